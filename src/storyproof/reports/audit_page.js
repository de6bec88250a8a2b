"use strict";
(() => {
  const PAGE = 100;
  const LONG = 50; // letters from which on a change is shown as a diff
  const { decode, figure, folded, make, short, story, unpack, whole, words } = page;
  const { findings, stories, captions, kinds } = JSON.parse(document.getElementById("data").textContent);
  const form = document.getElementById("filters");
  const cards = new Map();
  const texts = new Map();

  const place = (each) => (each.row < 0 ? "whole file" : `row ${each.row}`);
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

  function find(wanted) {
    wanted.words = wanted.search.toLowerCase().split(/\s+/).filter(Boolean);
    return findings.map((_, number) => number).filter((number) => fits(number, wanted));
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
    if (each.question) change.append(make("span", "asking data", each.question)); // the body says it, too
    const where = make("span", "where", make("span", "data", each.file), ` ${place(each)}`);
    const summary = make("summary", "", where, make("span", "kind", words(each.kind)), change);
    return folded("finding", summary, () => makeBody(each));
  }

  function makeBody(each) {
    const body = make("div", "body", facts(each));
    if (each.question) body.append(make("p", "question", make("span", "data", each.question)));
    const figures = make("div", "", ...each.pictures.map((number) => figure(picture(number), captions[number])));
    body.append(figures);
    if (each.story !== null) body.append(story(stories[each.story], each.sentences));
    if (each.note) body.append(make("p", "note data", each.note));
    const anchor = make("a", "", "Link to this row");
    anchor.href = link(each);
    const save = page.cardButton("storyproof-finding", () => ({
      title: each.question || `${words(each.field)}, ${each.file} ${place(each)}`,
      pictures: page.shownPictures(figures),
      lines: [
        [each.field === "answer" ? "Published label:" : "Found:", short(each.found) || "nothing", "wrong"],
        ...(each.expected ? [["Proved:", short(each.expected), "right"]] : []),
        ["Why:", each.reason, ""],
        ...(each.reading ? [["Under:", each.reading, "soft"]] : []),
      ],
    }));
    body.append(make("p", "links", anchor, " ", save));
    return body;
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

  function follow() {
    const cut = location.hash.lastIndexOf(":");
    if (cut < 0) return;
    const file = decode(location.hash.slice(1, cut));
    const row = Number(location.hash.slice(cut + 1));
    const asked = findings.flatMap((each, number) => (whole(each.file) === file && each.row === row ? [number] : []));
    shown.open(asked, `No listed finding is in row ${row} of ${file}.`);
  }

  fillChoices();
  form.hidden = document.getElementById("count").hidden = !findings.length;
  const all = () => findings.length;
  const shown = page.listing({ size: PAGE, find, card: cardOf, all, noun: "listed findings" });
  document.querySelectorAll("button[data-kind]").forEach((button) => {
    button.addEventListener("click", () => {
      shown.clear();
      form.elements.kind.value = button.dataset.kind;
      shown.update();
      document.getElementById("findings").scrollIntoView();
      form.elements.kind.focus({ preventScroll: true });
    });
  });
  window.addEventListener("hashchange", follow);

  shown.update();
  follow();
})();
