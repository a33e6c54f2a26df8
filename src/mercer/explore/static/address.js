// The state in the address: #preset=name for a preset as it is, #topic=name&state=... for anything else.

export function encodeState(view) {
  if (view.preset && !view.changed) return `#preset=${view.preset}`;
  const text = JSON.stringify(view.state);
  const bytes = new TextEncoder().encode(text);
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const packed = btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `#topic=${view.topic}&state=${packed}${view.preset ? `&from=${view.preset}` : ""}`;
}

// The view of a fragment, or null if it names none; the server checks the fields.
export function decodeState(fragment, presets) {
  const entries = new URLSearchParams(fragment.replace(/^#/, ""));
  const preset = presets.find((each) => each.name === (entries.get("preset") || entries.get("from")));
  if (entries.has("preset")) return preset ? presetView(preset) : null;
  if (!entries.has("topic") || !entries.has("state")) return null;
  try {
    const packed = entries.get("state").replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const state = JSON.parse(new TextDecoder().decode(bytes));
    if (state === null || typeof state !== "object" || Array.isArray(state)) return null;
    return { topic: entries.get("topic"), state, preset: preset ? preset.name : null, changed: true };
  } catch {
    return null;
  }
}

export function presetView(preset) {
  return { topic: preset.topic, state: structuredClone(preset.state), preset: preset.name, changed: false };
}

// One entry of the history per gesture: it is made when the gesture begins and holds what it ended with.
export class History {
  constructor(read) {
    this.read = read;
    this.active = false;
    this.depth = window.history.state?.depth || 0;
    this.timer = 0;
  }

  begin() {
    if (this.active) return;
    this.active = true;
    this.depth += 1;
    window.history.pushState({ depth: this.depth }, "", encodeState(this.read()));
  }

  end() {
    clearTimeout(this.timer);
    if (!this.active) return;
    this.active = false;
    window.history.replaceState({ depth: this.depth }, "", encodeState(this.read()));
  }

  // For controls that do not say when a gesture ends.
  endSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.end(), 700);
  }

  replace() {
    window.history.replaceState({ depth: this.depth }, "", encodeState(this.read()));
  }

  came(event) {
    this.active = false;
    this.depth = event.state?.depth || 0;
  }
}
