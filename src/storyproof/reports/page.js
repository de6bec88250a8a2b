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

  // --- cards: a picture with what belongs to it, as an image that can be sent

  const CARD = { width: 1200, margin: 48, scale: 2, footer: "storyproof · proved" };

  // Draw an SVG of this page on a canvas as it looks here: nothing is loaded, so that no policy has to allow it.
  function drawNode(pen, node) {
    const style = getComputedStyle(node);
    if (style.display === "none" || ["title", "desc", "style", "defs", "clipPath"].includes(node.localName)) return;
    pen.save();
    pen.globalAlpha *= Number(style.opacity);
    const moved = node.localName === "svg" ? null : node.transform?.baseVal.consolidate()?.matrix;
    if (moved) pen.transform(moved.a, moved.b, moved.c, moved.d, moved.e, moved.f);
    const value = (name) => Number(node.getAttribute(name) || 0);
    let path = null;
    if (node.localName === "path") path = new Path2D(node.getAttribute("d"));
    if (node.localName === "rect") {
      path = new Path2D();
      path.roundRect(value("x"), value("y"), node.width.baseVal.value, node.height.baseVal.value, value("rx"));
    }
    if (node.localName === "circle") {
      path = new Path2D();
      path.arc(value("cx"), value("cy"), value("r"), 0, 2 * Math.PI);
    }
    if (path) {
      if (style.fill !== "none") {
        pen.fillStyle = style.fill;
        pen.fill(path);
      }
      if (style.stroke !== "none") {
        pen.strokeStyle = style.stroke;
        pen.lineWidth = parseFloat(style.strokeWidth);
        pen.setLineDash(style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(",").map(parseFloat));
        pen.stroke(path);
      }
    }
    if (node.localName === "text") {
      const words = [...node.childNodes].filter((each) => each.localName !== "title").map((each) => each.textContent).join("");
      pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
      pen.fillStyle = style.fill;
      pen.textAlign = style.textAnchor === "middle" ? "center" : style.textAnchor === "end" ? "right" : "left";
      pen.fillText(words, value("x"), value("y"));
    } else {
      for (const child of node.children) drawNode(pen, child);
    }
    pen.restore();
  }

  function wrapped(pen, text, width) {
    const lines = [];
    for (const word of text.split(/\s+/)) {
      const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
      if (lines.length && pen.measureText(longer).width <= width) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines;
  }

  // A card as a canvas: a title, pictures of this page (SVG elements), and lines [label, text, kind], where the kind is a
  // colour's name ("wrong" is struck out, "right", "soft") or nothing.
  function drawCard({ title, pictures, lines }) {
    const theme = getComputedStyle(document.documentElement);
    const colour = (name) => theme.getPropertyValue(`--${name}`).trim();
    const family = getComputedStyle(document.body).fontFamily;
    const canvas = make("canvas", "");
    const pen = canvas.getContext("2d");
    const inner = CARD.width - 2 * CARD.margin;
    const titleFont = `700 34px ${family}`;
    const lineFont = (weight) => `${weight} 25px ${family}`;
    pen.font = titleFont;
    const heads = wrapped(pen, title, inner);
    const sizes = pictures.map((svg) => svg.viewBox.baseVal);
    const scales = sizes.map(({ width }) => Math.min(inner / width, 1.8));
    pen.font = lineFont(600);
    const told = lines.map(([label, text, kind]) => {
      const indent = pen.measureText(`${label} `).width;
      return { label, kind, indent, rows: wrapped(pen, text, inner - indent) };
    });
    let height = CARD.margin + 44 * heads.length + 8;
    sizes.forEach((size, place) => (height += size.height * scales[place] + 12));
    height += told.reduce((sum, { rows }) => sum + 36 * rows.length + 4, 12) + 56;
    canvas.width = CARD.width * CARD.scale;
    canvas.height = height * CARD.scale;
    pen.scale(CARD.scale, CARD.scale);
    pen.fillStyle = colour("paper");
    pen.fillRect(0, 0, CARD.width, height);
    let y = CARD.margin;
    pen.font = titleFont;
    pen.fillStyle = colour("ink");
    for (const head of heads) pen.fillText(head, CARD.margin, (y += 38));
    y += 20;
    pictures.forEach((svg, place) => {
      pen.save();
      pen.translate(CARD.margin, y);
      pen.scale(scales[place], scales[place]);
      drawNode(pen, svg);
      pen.restore();
      y += sizes[place].height * scales[place] + 12;
    });
    for (const { label, kind, indent, rows } of told) {
      pen.font = lineFont(400);
      pen.fillStyle = colour("soft");
      pen.fillText(label, CARD.margin, y + 36);
      pen.font = lineFont(kind === "soft" ? 400 : 600);
      pen.fillStyle = colour(kind || "ink");
      for (const row of rows) {
        y += 36;
        pen.fillText(row, CARD.margin + indent, y);
        if (kind === "wrong") pen.fillRect(CARD.margin + indent, y - 9, pen.measureText(row).width, 2.5);
      }
      y += 4;
    }
    pen.font = `400 20px ${family}`;
    pen.fillStyle = colour("soft");
    pen.textAlign = "right";
    pen.fillText(CARD.footer, CARD.width - CARD.margin, height - 24);
    return canvas;
  }

  // The pictures in an element, each in the form that is visible.
  const shownPictures = (node) => [...node.querySelectorAll("svg.picture")].filter((svg) => getComputedStyle(svg).display !== "none");

  // A button that saves a card as an image; about() says what is on it.
  function cardButton(name, about) {
    const button = make("button", "", "Save as image");
    button.type = "button";
    button.addEventListener("click", () => {
      drawCard(about()).toBlob((image) => {
        const link = make("a", "");
        link.href = URL.createObjectURL(image);
        link.download = `${name}.png`;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
      });
    });
    return button;
  }

  const short = (text, most = 120) => (text.length > most ? `${text.slice(0, most - 3)}…` : text);

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

  // The lines of an answer that comes bit by bit; hears what all but the last say, and returns the last.
  async function readLines(answer, hear) {
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let last = {};
    for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read()) {
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        last = JSON.parse(line);
        if ("said" in last) hear(last.said);
      }
    }
    if ("said" in last || last.error) throw new Error(last.error || "The answer ends in the middle.");
    return last;
  }

  // Ask the server that the page came from, with values or a file; returns what it answers, or throws why it does not.
  // What is said before the answer, hear(text) is called with.
  async function request(path, body, hear) {
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
    if (answer.ok && answer.headers.get("Content-Type").startsWith("application/x-ndjson")) return readLines(answer, hear);
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

  return { cardButton, decode, drawCard, figure, folded, listing, make, request, short, shownPictures, story, unpack, whole, words };
})();
