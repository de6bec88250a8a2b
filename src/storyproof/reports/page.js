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

  return { figure, make, story, unpack, words };
})();
