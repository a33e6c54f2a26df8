// Ends long loops of compiled code when Python asks for it: a signal such as Ctrl-C, or a canceled task of the pool.
#pragma once

namespace mercer {

// Called without the GIL once per outer iteration, with about as many operations as have passed since the last call.
// Some ten times a second it takes the GIL, runs signal handlers (on the main thread) and calls `raise_if_canceled` of
// the pool; what one of these raises ends the loop.
// Not inline: kernels of all instruction-set levels share one copy.
class InterruptCheck {
  public:
    InterruptCheck();
    void operator()(long operations);

  private:
    long operations_ = 0;
    double last_;
};

}  // namespace mercer
