// Questions to the server. Of each question at most one is under way and one waits: the newest. Older ones are dropped,
// so that no backlog grows while a slider moves, and an answer that was overtaken is never shown.

const PATIENCE = 3000; // milliseconds after which a request under way is aborted for a newer one

export class Question {
  constructor(name, show, refuse) {
    this.name = name;
    this.show = show;
    this.refuse = refuse;
    this.sequence = 0;
    this.shown = 0;
    this.running = null;
    this.waiting = null;
  }

  get busy() {
    return this.running !== null || this.waiting !== null;
  }

  ask(topic, state) {
    this.sequence += 1;
    this.waiting = { body: JSON.stringify({ topic, state }), number: this.sequence, since: performance.now() };
    if (!this.running) this.next();
    else if (performance.now() - this.running.since > PATIENCE) this.running.abort.abort();
  }

  // Forget what is under way and what waits.
  cancel() {
    this.waiting = null;
    this.shown = this.sequence;
    if (this.running) this.running.abort.abort();
  }

  async next() {
    const request = this.waiting;
    if (!request) return;
    this.waiting = null;
    request.abort = new AbortController();
    this.running = request;
    try {
      const answer = await post(this.name, request.body, request.abort.signal);
      if (request.number > this.shown) {
        this.shown = request.number;
        this.show(answer, request);
      }
    } catch (error) {
      if (error.name !== "AbortError" && request.number > this.shown) {
        this.shown = request.number;
        this.refuse(error.message);
      }
    } finally {
      this.running = null;
      this.next();
    }
  }
}

export async function post(name, body, signal) {
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body, signal };
  return readAnswer(await fetch(`api/${name}`, options).catch(unreachable));
}

export async function getAbout() {
  return readAnswer(await fetch("api/about").catch(unreachable));
}

function unreachable(error) {
  if (error.name === "AbortError") throw error;
  throw new Error("The server does not answer. Is mercer explore still running?");
}

async function readAnswer(response) {
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error || `The server answered with ${response.status}.`);
  return answer;
}
