"""The interactive page of `mercer explore`: a local server, the questions it answers, presets and the page itself."""
