"use strict";
(() => {
  const { decode, figure, folded, make, short, shownPictures, unpack, whole, words } = page;
  const PAGE = 50;
  const form = document.getElementById("filters");
  const cards = new Map();
  const searched = new Map();
  let boards = [];
  let texts = [];
  let meanings = {};
  let captions = [];
  let shown = null; // the list, once the answers are there
  let drawings = null;
  const names = JSON.parse(document.getElementById("names").textContent);
  const named = (title) => names[title] || title;

  const current = () => Number(form.elements.board.value);
  const address = (board, number) => `#${board}:${encodeURIComponent(whole(boards[board].ids[number]))}`;

  // --- which answers

  function textOf(board, number) {
    const key = `${board}:${number}`;
    if (!searched.has(key)) {
      const each = boards[board];
      const story = each.story[number] < 0 ? [] : each.stories[each.story[number]];
      const parts = [each.ids[number], texts[each.question[number]], texts[each.target[number]], ...story];
      for (const solver of each.solvers) if (solver.answer[number] >= 0) parts.push(texts[solver.answer[number]]);
      searched.set(key, parts.join("\n").toLowerCase());
    }
    return searched.get(key);
  }

  // Solvers that only mark the ends of the scale do not count, unless there are no others.
  function counted(board) {
    const real = board.solvers.filter((solver) => !solver.end);
    return real.length ? real : board.solvers;
  }

  function agrees(board, number, wanted) {
    const found = counted(board)
      .map((solver) => solver.right[number])
      .filter((right) => right >= 0);
    if (!found.length) return false;
    const right = found.filter((each) => each === 1).length;
    if (wanted === "none") return right === 0;
    return wanted === "all" ? right === found.length : right > 0 && right < found.length;
  }

  const RESULTS = { wrong: 0, right: 1, unanswered: -1 };

  function fits(board, number, wanted) {
    const chosen = wanted.solver ? board.solvers.filter((solver) => solver.title === wanted.solver) : board.solvers;
    if (wanted.result || wanted.mistake) {
      const found = chosen.some(
        (solver) =>
          (!wanted.result || solver.right[number] === RESULTS[wanted.result]) &&
          (!wanted.mistake || (solver.why[number] && solver.why[number][0] === wanted.mistake)),
      );
      if (!found) return false;
    }
    if (wanted.group) {
      const [facet, group] = wanted.group;
      if (board.facets[facet][number] !== group) return false;
    }
    return !wanted.agreement || agrees(board, number, wanted.agreement);
  }

  function find(wanted) {
    const index = Number(wanted.board);
    const board = boards[index];
    const needles = wanted.search.toLowerCase().split(/\s+/).filter(Boolean);
    wanted.group = wanted.group ? JSON.parse(wanted.group) : null;
    const matches = [];
    for (let number = 0; number < board.ids.length; number++) {
      if (!fits(board, number, wanted)) continue;
      if (needles.length && !needles.every((word) => textOf(index, number).includes(word))) continue;
      matches.push(number);
    }
    if (wanted.order === "missed") matches.sort((one, other) => missed(board, other) - missed(board, one));
    return matches;
  }

  function missed(board, number) {
    return counted(board).filter((solver) => solver.right[number] === 0).length;
  }

  // --- one question

  function cardOf(number) {
    const board = current();
    const key = `${board}:${number}`;
    if (!cards.has(key)) cards.set(key, makeCard(board, number));
    return cards.get(key);
  }

  const FEW = 4; // solvers whose names stand beside every question

  function verdictRow(board, number) {
    const brief = board.solvers.length > FEW;
    const nodes = board.solvers.map((solver) => verdict(solver, number, brief));
    if (!brief) return nodes;
    const asked = counted(board).filter((solver) => solver.right[number] >= 0).length;
    return [make("span", "missed", `${missed(board, number)} of ${asked} wrong`), ...nodes];
  }

  function verdict(solver, number, brief) {
    const right = solver.right[number];
    const [kind, sign, said] =
      right === 1 ? ["is-right", "✓", "right"] : right === 0 ? ["is-wrong", "✗", "wrong"] : ["is-none", "–", "no answer"];
    const text = brief ? sign : `${sign} ${named(solver.title)}`;
    const node = make("span", `verdict ${kind}${brief ? " brief" : ""}`, text);
    node.title = `${solver.title}: ${said}`;
    node.dataset.tip = node.title;
    return node;
  }

  function makeCard(index, number) {
    const board = boards[index];
    const asked = make("span", "asked", make("span", "data", texts[board.question[number]] || board.ids[number]));
    const verdicts = make("span", "verdicts", ...verdictRow(board, number));
    return folded("answer", make("summary", "", asked, verdicts), () => makeBody(index, number));
  }

  function makeBody(index, number) {
    const board = boards[index];
    const left = make("div", "");
    if (board.story[number] >= 0) left.append(page.story(board.stories[board.story[number]], board.proof[number]));
    else left.append(make("p", "note", "The data of these runs could not be read, so the story is not shown."));
    const asked = make("p", "asking", make("span", "data", texts[board.question[number]]));
    const body = make("div", "body", left, make("div", "", asked, said(board, number), facts(board, number)));
    const figures = make("div", "across");
    body.append(figures);
    draw(figures, board, number);
    const link = make("a", "", "Link to this question");
    link.href = address(index, number);
    const save = page.cardButton("storyproof-answer", () => answerCard(board, number, figures));
    body.append(make("p", "across links", link, save));
    return body;
  }

  // "Can your model do this?": the story, the answer of the first model that misses it, struck out, and what is proved.
  function answerCard(board, number, figures) {
    const missing = counted(board).filter((solver) => solver.right[number] === 0);
    const wrong = missing.find((solver) => solver.kind === "model") || missing[0];
    const proved = board.proved[number] ?? texts[board.target[number]];
    const lines = [];
    if (wrong) lines.push([`${named(wrong.title)}:`, short(texts[wrong.answer[number]]) || "nothing", "wrong"]);
    lines.push([board.proof[number].length || board.proved[number] !== undefined ? "Proved:" : "Label:", proved || "none follows", "right"]);
    const reasons = (wrong && wrong.why[number]) || [];
    if (reasons.length) lines.push(["Mistake:", explained(board, reasons[0]), ""]);
    if (board.proof[number].length) lines.push(["Proof:", `sentences ${board.proof[number].join(", ")}`, "soft"]);
    const pictures = shownPictures(figures);
    if (!pictures.length && board.story[number] >= 0) lines.unshift(["", board.stories[board.story[number]].join(" "), "soft"]);
    return { title: texts[board.question[number]] || board.ids[number], pictures, lines };
  }

  function facts(board, number) {
    const told = [[board.labels === "proved" ? "Proved answer" : "Label", texts[board.target[number]]]];
    const proved = board.proved[number];
    if (proved !== undefined) told.push(["Proved answer", proved || "none follows"]);
    if (board.proof[number].length) told.push(["Deciding", `sentences ${board.proof[number].join(", ")}`]);
    for (const [facet, groups] of Object.entries(board.facets)) {
      if (groups[number] >= 0 && texts[groups[number]]) {
        told.push([facet[0].toUpperCase() + facet.slice(1), texts[groups[number]]]);
      }
    }
    told.push(["Id", board.ids[number]]);
    return make("dl", "", ...told.flatMap(([name, text]) => [make("dt", "", name), make("dd", "data", text)]));
  }

  function said(board, number) {
    const head = make("tr", "", ...["solver", "answered", "why"].map((text) => make("th", "", text)));
    for (const cell of head.children) cell.scope = "col";
    const rows = board.solvers.filter((solver) => solver.right[number] >= 0).map((solver) => {
      const name = make("th", "data", named(solver.title));
      name.title = solver.title;
      name.scope = "row";
      const right = solver.right[number] === 1;
      const answer = make(right ? "ins" : "del", "data", short(texts[solver.answer[number]]) || "nothing");
      const why = make("td", "");
      const reasons = solver.why[number] || [];
      if (right) why.append(make("span", "good", "✓ right"));
      else why.append(make("span", "bad", "✗ "), reasons.length ? explained(board, reasons[0]) : "wrong");
      const others = reasons.slice(1).map((each) => (board.mistakes[each] || [each])[0]);
      if (others.length) why.append(make("div", "why", `also fits: ${others.join(", ")}`));
      if (solver.match[number]) why.append(make("div", "why", matched(solver, number)));
      replied(why, solver, number);
      return make("tr", "", name, make("td", "", answer), why);
    });
    const table = make("table", "said", make("thead", "", head), make("tbody", "", ...rows));
    const frame = make("div", "scroll", table);
    frame.tabIndex = 0;
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", "What each solver answered");
    return frame;
  }

  function explained(board, reason) {
    const [name, text] = board.mistakes[reason] || [words(reason), ""];
    return text ? `${name}: answered ${text}` : name;
  }

  function matched(solver, number) {
    const kind = solver.match[number];
    if (kind === "cut_off") return "The reply was cut off before an answer.";
    const meaning = meanings[kind] ? `: ${meanings[kind]}` : "";
    return `${solver.matching} matching: ${words(kind)}${meaning}`;
  }

  function replied(cell, solver, number) {
    const place = solver.reply[number];
    const length = solver.cut[number];
    if (place !== undefined) {
      const node = make("details", "", make("summary", "", "Reply"), make("pre", "data", texts[place]));
      cell.append(node);
    }
    if (length !== undefined) {
      const text = `The reply has ${length.toLocaleString("en")} characters; the run's file has all of it.`;
      cell.append(make("div", "why", text));
    }
  }

  function draw(place, board, number) {
    const numbers = board.pictures[number];
    if (!numbers) {
      const note = board.notes[number];
      if (note) place.append(make("p", "note data", note));
      return;
    }
    drawings = drawings || unpack("pictures");
    for (const each of numbers) place.append(figure(drawings.then((all) => all[each]), captions[each]));
  }

  // --- the tables: sorted, brought out, with hints

  const root = document.documentElement;
  const matrix = document.getElementById("matrix");
  let focus = ""; // the series that is brought out, by its name
  let sorting = null; // [column, direction]

  function sortBy(column, direction) {
    sorting = [column, direction];
    const body = matrix.tBodies[0];
    const measure = matrix.dataset.measure;
    const value = (row) => (column ? Number(row.cells[column].dataset[measure]) : row.querySelector(".name").textContent);
    const order = (one, other) => (column ? value(one) - value(other) : value(one).localeCompare(value(other), "en"));
    const place = (row) => Number(row.dataset.series); // of those that are alike
    const rows = [...body.rows];
    rows.sort((one, other) => direction * order(one, other) || place(one) - place(other));
    body.append(...rows);
    [...matrix.tHead.rows[0].cells].forEach((cell, place) => {
      if (place === column) cell.setAttribute("aria-sort", direction < 0 ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
  }

  function measureBy(name) {
    matrix.dataset.measure = name;
    for (const button of document.querySelectorAll(".choice button")) {
      button.setAttribute("aria-pressed", String(button.dataset.measure === name));
    }
    if (sorting && sorting[0]) sortBy(...sorting);
  }

  function bringOut(name) {
    const buttons = [...document.querySelectorAll("button.series")];
    const chosen = buttons.find((button) => button.title === name);
    focus = chosen ? name : "";
    if (chosen) root.dataset.focus = "";
    else delete root.dataset.focus;
    for (const button of buttons) button.setAttribute("aria-pressed", String(Boolean(focus) && button.title === focus));
    for (const row of document.querySelectorAll("tr[data-series]")) {
      row.classList.toggle("focused", Boolean(chosen) && row.dataset.series === chosen.dataset.series);
    }
  }

  function tables() {
    for (const button of matrix.querySelectorAll(".sort")) {
      button.addEventListener("click", () => {
        const column = Number(button.dataset.column);
        const first = column ? -1 : 1;
        sortBy(column, sorting && sorting[0] === column && sorting[1] === first ? -first : first);
        keep();
      });
    }
    for (const button of document.querySelectorAll(".choice button")) {
      button.addEventListener("click", () => {
        measureBy(button.dataset.measure);
        keep();
      });
    }
    for (const button of document.querySelectorAll("button.series")) {
      button.addEventListener("click", () => {
        bringOut(focus === button.title ? "" : button.title);
        keep();
      });
    }
    const tip = make("div", "");
    tip.id = "tip";
    tip.hidden = true;
    tip.setAttribute("role", "status");
    document.body.append(tip);
    document.addEventListener("pointerover", (event) => {
      const target = event.target.closest?.("[data-tip]");
      tip.hidden = !target;
      if (!target) return;
      tip.textContent = target.dataset.tip;
      const place = target.getBoundingClientRect();
      const left = Math.max(8, Math.min(place.left, root.clientWidth - tip.offsetWidth - 8));
      const above = place.top - tip.offsetHeight - 6;
      tip.style.left = `${left + window.scrollX}px`;
      tip.style.top = `${(above < 0 ? place.bottom + 6 : above) + window.scrollY}px`;
    });
    window.addEventListener("beforeprint", () => {
      for (const board of document.querySelectorAll("details.board")) board.open = true;
    });
  }

  // --- the address: what is filtered, sorted and brought out

  const VIEW = "#view?";

  function keep() {
    const wanted = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (value && !(name === "order" && value === "missed") && !(name === "board" && value === "0")) wanted.set(name, value);
    }
    if (focus) wanted.set("focus", focus);
    if (sorting) wanted.set("sort", sorting.join(","));
    if (matrix.dataset.measure !== "average") wanted.set("measure", matrix.dataset.measure);
    history.replaceState(null, "", `${VIEW}${wanted}`);
  }

  function restore() {
    if (!location.hash.startsWith(VIEW)) return false;
    const wanted = new URLSearchParams(location.hash.slice(VIEW.length));
    shown.clear();
    const board = Number(wanted.get("board") || 0);
    form.elements.board.value = String(boards[board] ? board : 0);
    fillChoices();
    for (const [name, value] of wanted) {
      const field = form.elements.namedItem(name);
      if (!field || name === "board") continue;
      field.value = value;
      if (field.localName === "select" && field.selectedIndex < 0) field.selectedIndex = 0;
    }
    measureBy(wanted.get("measure") === "joint" ? "joint" : "average");
    const [column, direction] = (wanted.get("sort") || "").split(",").map(Number);
    if (column >= 0 && column < matrix.tHead.rows[0].cells.length && Math.abs(direction) === 1) sortBy(column, direction);
    bringOut(wanted.get("focus") || "");
    shown.update();
    return true;
  }

  // --- choices

  function option(value, text) {
    const node = make("option", "", text);
    node.value = value;
    return node;
  }

  function choices(name, options) {
    const select = form.elements[name];
    const before = select.value;
    select.replaceChildren(option("", "any"), ...options);
    select.value = before;
    if (select.selectedIndex < 0) select.value = "";
  }

  function fillChoices() {
    const board = boards[current()];
    choices(
      "solver",
      board.solvers.map((solver) => option(solver.title, named(solver.title))),
    );
    const occurring = new Set(board.solvers.flatMap((solver) => Object.values(solver.why).map((why) => why[0])));
    const mistakes = Object.keys(board.mistakes).filter((name) => occurring.has(name));
    choices(
      "mistake",
      mistakes.map((name) => option(name, board.mistakes[name][0])),
    );
    const groups = [];
    for (const [facet, members] of Object.entries(board.facets)) {
      const known = [...new Set(members)].filter((group) => group >= 0 && texts[group]);
      if (known.length < 2) continue;
      const node = document.createElement("optgroup");
      node.label = facet;
      known.sort((one, other) => texts[one].localeCompare(texts[other], "en", { numeric: true }));
      node.append(...known.map((group) => option(JSON.stringify([facet, group]), texts[group])));
      groups.push(node);
    }
    choices("group", groups);
  }

  function choose(wanted) {
    shown.clear();
    for (const [name, value] of Object.entries(wanted)) {
      form.elements[name].value = value;
      if (name === "board") fillChoices();
    }
    shown.update();
    keep();
    document.getElementById("answers-title").scrollIntoView();
    form.elements.solver.focus({ preventScroll: true });
  }

  function follow() {
    if (restore()) return;
    const folded = document.querySelector(`details.board[id="${CSS.escape(location.hash.slice(1))}"]`);
    if (folded) {
      folded.open = true;
      folded.scrollIntoView();
      return;
    }
    const found = /^#(\d+):(.*)$/su.exec(location.hash);
    if (!found) return;
    const index = Number(found[1]);
    const id = decode(found[2]);
    const number = boards[index] ? boards[index].ids.findIndex((each) => whole(each) === id) : -1;
    if (number >= 0 && current() !== index) {
      shown.clear();
      form.elements.board.value = String(index);
      fillChoices();
      shown.update();
    }
    shown.open(number < 0 ? [] : [number], `There is no question ${id} here.`);
  }

  async function begin() {
    try {
      ({ boards, texts, meanings, captions } = await unpack("answers"));
    } catch {
      document.getElementById("count").textContent = "This browser cannot unpack the answers; use a newer one. The runs' files have every answer.";
      return;
    }
    form.elements.board.append(...boards.map((board, number) => option(String(number), board.name)));
    fillChoices();
    if (boards.some((board) => board.solvers.some((solver) => solver.right.includes(0)))) {
      form.elements.result.value = "wrong";
    }
    form.elements.board.addEventListener("input", fillChoices); // before the list is filtered by them
    const all = () => boards[current()].ids.length;
    shown = page.listing({ size: PAGE, find, card: cardOf, all, noun: "questions", kept: ["board", "order"] });
    shown.update();
    form.addEventListener("input", keep);
    document.getElementById("clear").addEventListener("click", keep);
    document.querySelectorAll("button[data-board]").forEach((button) => {
      const { board, solver = "", result = "", mistake = "", agreement = "" } = button.dataset;
      button.addEventListener("click", () => choose({ board, solver, result, mistake, agreement }));
    });
    window.addEventListener("hashchange", follow);
    follow();
    document.documentElement.dataset.ready = "";
  }

  tables();
  begin();
})();
