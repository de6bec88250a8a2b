"use strict";
// What the scripts of all pages share. Text from data only ever becomes text: nothing here reads it as markup.
const page = (() => {
  function make(name, className, ...content) {
    const node = document.createElement(name);
    if (className) node.className = className;
    node.append(...content);
    return node;
  }

  const words = (name) => name.replaceAll("_", " ");

  // A promise of a value that the page holds compressed; see build_page.
  function unpack(id) {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  }

  function parse(svg, form) {
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    const node = document.importNode(parsed, true);
    node.classList.add(form);
    return node;
  }

  // A figure with its caption, drawn when the promise of its forms comes true: { svg, narrow }. Narrow places show the
  // narrow form, if there is one; wide pictures scroll, and say so.
  function figure(forms, caption) {
    const drawing = make("div", "drawing");
    drawing.tabIndex = 0;
    drawing.setAttribute("role", "group");
    drawing.setAttribute("aria-label", "Picture");
    const cue = make("p", "cue note", "The picture goes on to the right: scroll →");
    cue.hidden = true;
    Promise.resolve(forms).then(({ svg, narrow }) => {
      if (narrow) drawing.append(parse(narrow, "narrow"));
      drawing.append(parse(svg, "wide"));
      new ResizeObserver(() => {
        cue.hidden = drawing.scrollWidth <= drawing.clientWidth + 1;
      }).observe(drawing);
    });
    return make("figure", "", make("figcaption", "data", caption), cue, drawing);
  }

  // A story as a list of sentences; the deciding ones, counted from 1, are marked.
  function story(lines, deciding) {
    const marked = lines.map((line, index) => make(deciding.includes(index + 1) ? "mark" : "span", "data", line));
    if (marked.length === 1) return make("p", "story", ...marked);
    const items = marked.map((line) => make("li", line.localName === "mark" ? "deciding" : "", line));
    const node = make("ol", "story", ...items);
    node.setAttribute("aria-label", "The story; sentences that decide are marked");
    return node;
  }

  const short = (text) => (text.length > 120 ? `${text.slice(0, 117)}…` : text);

  // Half a character cannot stand in an address.
  const whole = (text) => text.replace(/\p{Surrogate}/gu, "\ufffd");

  // A part of an address as text; a name with a per cent sign may stand in it as it is.
  function decode(part) {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  }

  // Ask the server that the page came from, with values or a file; returns what it answers, or throws why it does not.
  async function request(path, body) {
    const isFile = body instanceof Blob;
    const how = body
      ? {
          method: "POST",
          headers: { "Content-Type": isFile ? "application/octet-stream" : "application/json" },
          body: isFile ? body : JSON.stringify(body),
        }
      : {};
    let answer;
    try {
      answer = await fetch(path, { ...how, mode: "same-origin", credentials: "omit", cache: "no-store" });
    } catch {
      throw new Error("The server does not answer; is storyproof serve still running?");
    }
    const found = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(found.error || `The server answers with status ${answer.status}.`);
    return found;
  }

  // A card that is filled when it is first opened.
  function folded(className, summary, makeBody) {
    const card = make("details", className, summary);
    card.fill = () => card.childElementCount > 1 || card.append(makeBody());
    card.addEventListener("toggle", () => card.open && card.fill());
    return card;
  }

  // The list #list of what the form #filters lets through, a part at a time: find(wanted) returns the keys that fit, card(key)
  // the <details> of one; all() says how many there are. Fields named in `kept` stay when the filters are cleared.
  function listing({ size, find, card, all, noun, kept = [] }) {
    const [form, list, more, count] = ["filters", "list", "more", "count"].map((id) => document.getElementById(id));
    const number = (value) => value.toLocaleString("en");
    let matches = [];
    let shown = size;

    function filter() {
      matches = find(Object.fromEntries(new FormData(form)));
    }

    function render() {
      list.replaceChildren(...matches.slice(0, shown).map((key) => make("li", "", card(key))));
      more.hidden = matches.length <= shown;
      const visible = Math.min(shown, matches.length);
      const part = visible < matches.length ? `; the first ${number(visible)} are shown` : "";
      count.textContent = `${number(matches.length)} of ${number(all())} ${noun}${part}`;
    }

    function update() {
      shown = size;
      filter();
      render();
    }

    function clear() {
      for (const field of form.querySelectorAll("input, select")) if (!kept.includes(field.name)) field.value = "";
    }

    // Show and open these, without the filters where they hide one; say `missing` where there are none.
    function open(keys, missing) {
      for (const node of list.querySelectorAll(".target")) node.classList.remove("target");
      if (!keys.length) {
        count.textContent = missing;
        count.scrollIntoView({ block: "center" });
        return;
      }
      if (!keys.every((key) => matches.includes(key))) {
        clear();
        filter();
      }
      shown = Math.max(shown, matches.indexOf(keys.at(-1)) + 1);
      render();
      const targets = keys.map(card);
      for (const target of targets) {
        target.classList.add("target");
        target.open = true;
        target.fill(); // now, so that the page scrolls to where it will stay
      }
      targets[0].scrollIntoView({ block: "start" });
      targets[0].firstElementChild.focus({ preventScroll: true });
    }

    form.addEventListener("input", update);
    form.addEventListener("submit", (event) => event.preventDefault());
    document.getElementById("clear").addEventListener("click", () => {
      clear();
      update();
    });
    more.addEventListener("click", () => {
      const next = shown;
      shown += size;
      render();
      list.children[next]?.querySelector("summary").focus();
    });
    return { clear, open, update };
  }

  return { decode, figure, folded, listing, make, request, short, story, unpack, whole, words };
})();
