"use strict";
(() => {
  const PAGE = 100;
  const LONG = 50; // letters from which on a change is shown as a diff
  const { figure, make, story, unpack, words } = page;
  const { findings, stories, captions, kinds } = JSON.parse(document.getElementById("data").textContent);
  const form = document.getElementById("filters");
  const list = document.getElementById("list");
  const more = document.getElementById("more");
  const count = document.getElementById("count");
  const cards = new Map();
  const texts = new Map();
  let matches = [];
  let shown = PAGE;

  const short = (text) => (text.length > 120 ? `${text.slice(0, 117)}…` : text);
  const place = (each) => (each.row < 0 ? "whole file" : `row ${each.row}`);
  const whole = (text) => text.replace(/\p{Surrogate}/gu, "\ufffd"); // half a character cannot stand in an address
  const link = (each) => `#${encodeURIComponent(whole(each.file))}:${each.row}`;

  function textOf(number) {
    if (!texts.has(number)) {
      const each = findings[number];
      const story = each.story === null ? [] : stories[each.story];
      const parts = [each.file, place(each), each.id, each.kind, words(each.kind), each.field, each.found];
      parts.push(each.expected, each.reason, each.reading, each.asked, each.question, ...story);
      texts.set(number, parts.join("\n").toLowerCase());
    }
    return texts.get(number);
  }

  function fits(number, wanted) {
    const each = findings[number];
    return (
      ["file", "kind", "field", "asked"].every((name) => !wanted[name] || each[name] === wanted[name]) &&
      (!wanted.reading || (wanted.reading === "some") === Boolean(each.reading)) &&
      wanted.words.every((word) => textOf(number).includes(word))
    );
  }

  function filter() {
    const wanted = Object.fromEntries(new FormData(form));
    wanted.words = wanted.search.toLowerCase().split(/\s+/).filter(Boolean);
    matches = findings.map((_, number) => number).filter((number) => fits(number, wanted));
  }

  function render() {
    list.replaceChildren(...matches.slice(0, shown).map(cardOf));
    more.hidden = matches.length <= shown;
    const visible = Math.min(shown, matches.length);
    const part = visible < matches.length ? `; the first ${visible} are shown` : "";
    count.textContent = `${matches.length} of ${findings.length} listed findings${part}`;
  }

  let pictures = null; // a promise, from when the first is needed

  function picture(number) {
    pictures ??= unpack("pictures");
    return pictures.then((all) => all[number]);
  }

  const isLong = (each) => each.expected && each.found.length > LONG && each.expected.length > LONG;

  // What was found against what is expected, word by word: the longest common part stays as it is.
  function diff(found, expected) {
    const [old, now] = [found, expected].map((text) => text.match(/[^\s,]+[\s,]*|[\s,]+/g) ?? []);
    const node = make("span", "data diff");
    if (old.length * now.length > 40_000) {
      node.append(make("del", "", short(found)), " → ", make("ins", "", short(expected)));
      return node;
    }
    const word = (text) => text.replace(/[\s,]+$/, "");
    const same = (i, j) => word(old[i]) === word(now[j]);
    const common = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
    for (let i = old.length - 1; i >= 0; i--) {
      for (let j = now.length - 1; j >= 0; j--) {
        common[i][j] = same(i, j) ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
      }
    }
    const parts = [];
    const put = (kind, text) => {
      if (parts.at(-1)?.kind === kind) parts.at(-1).text += text;
      else parts.push({ kind, text });
    };
    let [i, j] = [0, 0];
    while (i < old.length || j < now.length) {
      if (i < old.length && j < now.length && same(i, j)) {
        put("span", now[j]);
        i++;
        j++;
      } else if (j >= now.length || (i < old.length && common[i + 1][j] >= common[i][j + 1])) {
        put("del", old[i++]);
      } else {
        put("ins", now[j++]);
      }
    }
    node.append(...parts.map(({ kind, text }) => make(kind, "", text)));
    return node;
  }

  function cardOf(number) {
    if (!cards.has(number)) cards.set(number, makeCard(number));
    return cards.get(number);
  }

  function makeCard(number) {
    const each = findings[number];
    const change = make("span", "change", make("span", "field", `${words(each.field)}: `));
    if (isLong(each)) {
      change.append(diff(each.found, each.expected));
    } else {
      change.append(make("del", "data", short(each.found) || "nothing"));
      if (each.expected) change.append(" → ", make("ins", "data", short(each.expected)));
    }
    if (each.reading) change.append(make("span", "badge", "rule-dependent"));
    const where = make("span", "where", make("span", "data", each.file), ` ${place(each)}`);
    const summary = make("summary", "", where, make("span", "kind", words(each.kind)), change);
    const card = make("details", "finding", summary);
    card.addEventListener("toggle", () => fill(card, each));
    return make("li", "", card);
  }

  function fill(card, each) {
    if (!card.open || card.childElementCount > 1) return;
    const body = make("div", "body", facts(each));
    if (each.question) body.append(make("p", "question", make("span", "data", each.question)));
    for (const number of each.pictures) body.append(figure(picture(number), captions[number]));
    if (each.story !== null) body.append(story(stories[each.story], each.sentences));
    if (each.note) body.append(make("p", "note data", each.note));
    const anchor = make("a", "", "Link to this row");
    anchor.href = link(each);
    body.append(make("p", "", anchor));
    card.append(body);
  }

  function facts(each) {
    const told = [
      ["Found", each.found || "nothing"],
      ["Expected", each.expected],
      ["Class", kinds[each.kind] ?? ""],
      ["Why", each.reason],
      ["Right under", each.reading && `${each.reading} (rule-dependent: wrong under the default readings)`],
      ["Kind of question", words(each.asked)],
      ["Line", each.line ? String(each.line) : ""],
      ["Id", each.id],
    ];
    const shownFacts = told.filter(([, text]) => text);
    return make("dl", "", ...shownFacts.flatMap(([name, text]) => [make("dt", "", name), make("dd", "data", text)]));
  }

  function fillChoices() {
    for (const name of ["file", "kind", "field", "asked"]) {
      const values = [...new Set(findings.map((each) => each[name]))].filter(Boolean);
      for (const value of values) {
        const option = make("option", "", name === "file" ? value : words(value));
        option.value = value;
        form.elements[name].append(option);
      }
    }
  }

  function clear() {
    for (const field of form.querySelectorAll("input, select")) field.value = "";
  }

  function update() {
    shown = PAGE;
    filter();
    render();
  }

  function follow() {
    const cut = location.hash.lastIndexOf(":");
    if (cut < 0) return;
    let file = location.hash.slice(1, cut);
    try {
      file = decodeURIComponent(file);
    } catch {
      // a name with a per cent sign, written as it is
    }
    const row = Number(location.hash.slice(cut + 1));
    const asked = findings.flatMap((each, number) => (whole(each.file) === file && each.row === row ? [number] : []));
    document.querySelectorAll(".finding.target").forEach((node) => node.classList.remove("target"));
    if (!asked.length) {
      count.textContent = `No listed finding is in row ${row} of ${file}.`;
      count.scrollIntoView({ block: "center" });
      return;
    }
    if (!asked.every((number) => matches.includes(number))) {
      clear();
      filter();
    }
    shown = Math.max(shown, matches.indexOf(asked.at(-1)) + 1);
    render();
    const targets = asked.map((number) => cardOf(number).firstElementChild);
    targets.forEach((card, index) => {
      card.classList.add("target");
      card.open = true;
      fill(card, findings[asked[index]]); // now, so that the page scrolls to where it will stay
    });
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
    shown += PAGE;
    render();
    list.children[next]?.querySelector("summary").focus();
  });
  document.querySelectorAll("button[data-kind]").forEach((button) => {
    button.addEventListener("click", () => {
      clear();
      form.elements.kind.value = button.dataset.kind;
      update();
      document.getElementById("findings").scrollIntoView();
      form.elements.kind.focus({ preventScroll: true });
    });
  });
  window.addEventListener("hashchange", follow);

  fillChoices();
  update();
  follow();
})();
