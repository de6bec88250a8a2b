"use strict";
// The explorer. What the server sends is only ever shown as text; pictures are SVG whose texts are escaped.
(() => {
  const { make, figure, request, words } = page;
  const $ = (id) => document.getElementById(id);
  const state = $("state");
  const dials = $("dials");
  const text = $("text");
  const asking = $("ask");
  const stage = $("stage");
  const where = $("where");
  const PAUSE_MS = 500; // after the last key, before a text is read
  const STEP_MS = 1100; // of a sentence while a story plays
  const ORDERS = [1, 2, 3, 4];
  const FEW_READINGS = 4; // that have a card each; more are grouped by their answers
  const LEAST_SCALE = 0.8; // of a picture that does not fit
  const LONGEST_ON_CARD = 900; // characters of a story
  const OPEN_GROUPS = 2; // of dials
  let benchmarks = [];
  let samples = [];
  let view = null; // what is shown
  let own = null; // the text that view was read from, if it is a user's own
  let steps = [];
  let order = 2; // through how many minds beliefs are shown
  let outer = []; // whose beliefs about beliefs the matrix shows, beyond the second mind
  let latest = 0; // the number of the last request for a story; earlier ones that come late are dropped
  let latestSteps = 0;
  let waiting = 0;
  let playing = 0;

  function say(message, isWrong) {
    state.textContent = message;
    state.className = isWrong ? "bad" : "note";
  }

  function button(label, onClick, className = "") {
    const node = make("button", className, label);
    node.type = "button";
    node.addEventListener("click", onClick);
    return node;
  }

  function options(select, values, chosen) {
    const nodes = values.map((value) => {
      const [key, label] = Array.isArray(value) ? value : [value, value];
      const node = make("option", "", label);
      node.value = key;
      return node;
    });
    select.replaceChildren(...nodes);
    if (chosen !== undefined) select.value = chosen;
    return select;
  }

  function select(label, values, chosen, onChange, className = "") {
    const node = options(make("select", className), values, chosen);
    node.setAttribute("aria-label", label);
    node.addEventListener("change", () => onChange(node.value));
    return node;
  }

  // --- tabs

  function openTab(name) {
    for (const each of ["make", "write"]) {
      const tab = $(`${each}-tab`);
      tab.setAttribute("aria-selected", String(each === name));
      tab.tabIndex = each === name ? 0 : -1;
      $(each).hidden = each !== name;
    }
    if (name === "write") underline();
  }

  for (const [name, other] of [["make", "write"], ["write", "make"]]) {
    const tab = $(`${name}-tab`);
    tab.addEventListener("click", () => openTab(name));
    tab.addEventListener("keydown", (event) => {
      if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
      event.preventDefault();
      openTab(other);
      $(`${other}-tab`).focus();
    });
  }

  // --- dials

  const chosen = () => benchmarks.find((each) => each.name === dials.elements.benchmark.value);
  let preset = "";
  const usual = (dial) => chosen().presets[preset]?.[dial.name] ?? dial.default;
  // A slider shows 1.0 as 1.
  const isTurned = (dial, value) => String(value) !== String(usual(dial)) && !(dial.kind === "number" && usual(dial) !== "" && Number(value) === Number(usual(dial)));
  const dialNode = (name) => $("settings").querySelector(`[data-dial="${CSS.escape(name)}"]`);

  function showBenchmark(settings = {}, wantedPreset = "") {
    const benchmark = chosen();
    preset = wantedPreset in benchmark.presets ? wantedPreset : "";
    $("summary").textContent = benchmark.summary;
    $("presets").hidden = !Object.keys(benchmark.presets).length;
    showPresets();
    const rank = { number: 0, choice: 1, text: 2, choices: 3, switch: 4 };
    const sorted = [...benchmark.dials].sort((one, other) => rank[one.kind] - rank[other.kind]);
    const nodes = sorted.map((dial) => showDial(dial, settings[dial.name] ?? usual(dial)));
    const headings = [...new Set(benchmark.dials.map((dial) => dial.group))];
    const before = new Map([...$("settings").children].map((each) => [each.firstChild.textContent, each.open]));
    const groups = headings.map((heading, at) => {
      const inside = nodes.filter((_, place) => sorted[place].group === heading);
      const group = make("details", "more", make("summary", "", heading || "Dials"), ...inside);
      group.open = (before.get(heading) ?? at < OPEN_GROUPS) || inside.some((node) => node.classList.contains("turned"));
      return group;
    });
    $("settings").replaceChildren(...groups);
    options($("download").elements.format, benchmark.formats, "jsonl");
    $("test-label").textContent = benchmark.test_parts ? `Test stories for each ${benchmark.test_parts}` : "Test stories";
  }

  function showPresets() {
    const names = ["", ...Object.keys(chosen().presets)];
    const chips = names.map((name) => {
      const node = button(name || "default", () => {
        showBenchmark({}, name);
        newStory();
        $("presets").querySelector("[aria-pressed=true]").focus();
      });
      node.setAttribute("aria-pressed", String(name === preset));
      return node;
    });
    $("presets").lastElementChild.replaceChildren(...chips);
  }

  // A dial as a control, with what it is set to; `value` is the text that the command line would take, or a truth value.
  function showDial(dial, value) {
    const title = words(dial.label[0].toUpperCase() + dial.label.slice(1));
    const help = make("p", "unseen", dial.help);
    help.id = `help-${dial.name}`;
    const error = make("p", "error");
    error.id = `error-${dial.name}`;
    error.hidden = true;
    const reset = button("↺", () => {
      const fresh = showDial(dial, usual(dial));
      node.replaceWith(fresh);
      newStory();
      fresh.querySelector("input, select").focus();
    }, "reset");
    reset.setAttribute("aria-label", `Reset ${title}`);
    reset.title = "Back to its usual value";
    const node = make("div", `dial ${dial.kind}`);
    node.dataset.dial = dial.name;
    const described = (field) => {
      field.setAttribute("aria-describedby", `${help.id} ${error.id}`);
      return field;
    };
    if (dial.kind === "choices") {
      const given = new Set(String(value).split(",").filter(Boolean));
      const chips = dial.choices.map((choice) => {
        const box = described(make("input"));
        Object.assign(box, { type: "checkbox", value: choice, checked: given.has(choice) });
        return make("label", "", box, words(choice));
      });
      const group = make("fieldset", "", make("legend", "name", title), make("div", "chips", ...chips));
      node.value = () => [...group.querySelectorAll(":checked")].map((box) => box.value).join(",");
      node.append(group);
    } else if (dial.kind === "switch") {
      const box = described(make("input"));
      Object.assign(box, { type: "checkbox", checked: value });
      box.setAttribute("role", "switch");
      node.value = () => box.checked;
      node.append(make("label", "", box, make("span", "", title)));
    } else {
      const field = described(make(dial.kind === "choice" ? "select" : "input"));
      const name = make("span", "name", make("span", "", title));
      const parts = [name, field];
      if (dial.kind === "choice") {
        options(field, dial.choices.map((each) => [each, words(each)]), value);
      } else if (dial.kind === "number") {
        const output = make("output", "", value);
        Object.assign(field, { type: "range", min: dial.least, max: dial.most, step: dial.whole ? 1 : 0.05, value });
        field.addEventListener("input", () => (output.textContent = field.value));
        parts.push(output);
      } else {
        Object.assign(field, { type: "text", autocomplete: "off", maxLength: 200, value });
        name.append(make("span", "note", dial.range));
      }
      node.value = () => field.value;
      node.append(make("label", "", ...parts), reset);
    }
    const mark = () => node.classList.toggle("turned", isTurned(dial, node.value()));
    node.addEventListener("change", mark);
    mark();
    node.append(help, error);
    // What it does stands in one place below, so that nothing moves under the pointer.
    for (const each of ["focusin", "mouseenter"]) node.addEventListener(each, () => ($("dial-help").textContent = dial.help));
    return node;
  }

  function turned() {
    const settings = {};
    for (const dial of chosen().dials) {
      const value = dialNode(dial.name).value();
      if (isTurned(dial, value)) settings[dial.name] = value;
    }
    return { benchmark: chosen().name, preset, settings };
  }

  // An error begins with the name of the setting, or has the option of the command line; here it stands at the dial.
  function showDialError(message) {
    for (const dial of chosen().dials) {
      const node = dialNode(dial.name);
      const error = node.querySelector(".error");
      const flag = `--${dial.label.replaceAll(" ", "-")}`;
      const isNamed = message.startsWith(`${dial.name} `);
      error.hidden = !isNamed && !message.includes(flag);
      node.querySelector("input, select").setAttribute("aria-invalid", String(!error.hidden));
      if (error.hidden) continue;
      node.closest("details").open = true;
      node.scrollIntoView({ block: "nearest" });
      const title = words(dial.label);
      error.textContent = isNamed ? `${title[0].toUpperCase()}${title.slice(1)}${message.slice(dial.name.length)}` : message.replaceAll(flag, title);
      return true;
    }
    return false;
  }

  // --- stories

  async function newStory(wanted) {
    const number = ++latest;
    window.clearTimeout(waiting);
    say("Making a story …");
    try {
      const about = wanted ?? { ...turned(), split: dials.elements.split.value };
      const found = await request("/api/story", { ...about, order });
      if (number !== latest) return;
      showDialError("");
      text.elements.story.value = found.lines.join("\n");
      text.elements.question.value = found.question;
      text.elements.people.value = found.people.join(", ");
      text.elements.family.value = "";
      own = null;
      showProblems([]);
      show(found);
      say("");
      const { benchmark, preset: named, settings, split, place, number: at } = found.reference;
      const told = Object.entries(settings).map(([name, value]) => [`dial.${name}`, value]);
      const rest = { benchmark, ...(named && { preset: named }), split, place, number: at, asked: found.asked };
      remember(new URLSearchParams([...Object.entries(rest), ...told]));
    } catch (error) {
      if (number !== latest) return;
      const isShown = showDialError(error.message);
      say(isShown ? "One of the dials cannot be set so; the last story stays." : error.message, true);
      document.documentElement.dataset.ready = "";
    }
  }

  const remember = (params) => history.replaceState(null, "", `#${params}`);

  function ownText() {
    const fields = text.elements;
    const story = fields.story.value;
    // Names of another story would be taken for words of this one.
    const named = fields.people.value.split(",").map((name) => name.trim()).filter(Boolean);
    const people = named.filter((name) => story.includes(name)).slice(0, 64);
    return { story, question: fields.question.value, family: fields.family.value, people };
  }

  async function readText() {
    const number = ++latest;
    window.clearTimeout(waiting);
    const read = ownText();
    if (!read.story.trim()) {
      showProblems([]);
      stale(true);
      $("reading").textContent = "Write a story, one sentence after the other, or start from one of those above.";
      document.documentElement.dataset.ready = "";
      return;
    }
    $("reading").textContent = "Reading …";
    try {
      const found = await request("/api/read", { ...read, order });
      if (number !== latest) return;
      if (!read.question.trim() && found.forms.length && found.people.length) {
        text.elements.question.value = fill(found.forms[0].templates[0], found.people);
        readText();
        return;
      }
      showProblems(found.problems, found.lines);
      const fatal = found.problems.some((each) => each.is_fatal);
      if (fatal) {
        stale(true);
        $("reading").textContent = view ? "The last result stays until this can be read." : "";
      } else {
        own = read;
        show(found);
        remember(new URLSearchParams({ story: read.story, question: found.question }));
        $("reading").textContent = "Read, proved and checked.";
      }
    } catch (error) {
      if (number === latest) $("reading").textContent = error.message;
    }
    document.documentElement.dataset.ready = "";
  }

  function readSoon() {
    latest += 1; // what is under way is about an earlier text
    window.clearTimeout(waiting);
    waiting = window.setTimeout(readText, PAUSE_MS);
  }

  function ask(question) {
    text.elements.question.value = question;
    readText();
  }

  function stale(isStale) {
    stage.closest(".seeing").classList.toggle("is-stale", isStale && view !== null);
    $("stale").hidden = !isStale || view === null;
  }

  // What a request for steps or an answer is about: what is shown, even if somebody types on meanwhile.
  function source() {
    return own ?? { ...view.reference, asked: view.asked };
  }

  // --- what is not understood

  let marks = []; // [start, end, is fatal] in the story

  function showProblems(problems, lines = []) {
    marks = [];
    const starts = [0];
    const story = text.elements.story.value;
    for (let at = story.indexOf("\n"); at >= 0; at = story.indexOf("\n", at + 1)) starts.push(at + 1);
    const isAsWritten = lines.join("\n").trimEnd() === story.trimEnd();
    const cards = problems.map((problem) => {
      const isQuestion = problem.part === "question";
      const parts = [make("p", "data", problem.message)];
      let start = -1;
      let length = problem.length;
      if (isQuestion) {
        start = Math.max(problem.column - 1, 0);
      } else if (problem.line && isAsWritten) {
        const line = lines[problem.line - 1];
        start = starts[problem.line - 1] + Math.max(problem.column - 1, 0);
        length = problem.column ? length || Math.max(line.length - problem.column + 1, 0) : line.length;
        if (!length && line.length) [start, length] = [start - 1, 1]; // the end is missing
        marks.push([start, start + length, problem.is_fatal]);
      }
      const chips = problem.fixes.map((fix) => button(`Use “${fix}”`, () => accept(isQuestion, start, length, fix)));
      if (chips.length) parts.push(make("div", "chips", ...chips));
      return make("div", problem.is_fatal ? "problem" : "problem minor", ...parts);
    });
    $("problems").replaceChildren(...cards);
    text.elements.question.setAttribute("aria-invalid", String(problems.some((each) => each.is_fatal && each.part === "question")));
    underline();
  }

  function accept(isQuestion, start, length, fix) {
    const field = isQuestion ? text.elements.question : text.elements.story;
    if (start < 0) field.value = fix;
    else field.setRangeText(fix, start, length ? start + length : field.value.length, "end");
    field.focus();
    readText();
  }

  // What is not understood is underlined in a copy of the text that lies behind it.
  function underline() {
    const field = text.elements.story;
    const parts = [];
    let at = 0;
    for (const [start, end, isFatal] of [...marks].sort((one, other) => one[0] - other[0])) {
      if (start < at) continue;
      parts.push(field.value.slice(at, start), make("mark", isFatal ? "" : "minor", field.value.slice(start, end)));
      at = end;
    }
    const backdrop = text.querySelector(".backdrop");
    backdrop.replaceChildren(...parts, `${field.value.slice(at)}\n`);
    backdrop.scrollTop = field.scrollTop;
  }

  // --- what is shown

  function show(found) {
    const isNew = !view || found.lines.join() !== view.lines.join();
    view = found;
    if (isNew) outer = [];
    stale(false);
    stop();
    showAsked(found);
    showAnswer(found);
    const worlds = found.answer ? [] : found.models.flatMap((each) => each.picture ?? []);
    const drawn = (worlds.length ? worlds : found.pictures).map((each) => figure(each, each.caption));
    $("pictures").className = drawn.length > 1 ? "several" : "";
    $("pictures").replaceChildren(...drawn, ...(found.note ? [make("p", "note", found.note)] : []));
    showText(found);
    keepLegible($("pictures"));
    showReadings(found.readings);
    showModels(found, worlds.length > 0);
    $("conventions").replaceChildren(...found.conventions.map((each) => make("li", "", each)));
    $("rules").hidden = !found.conventions.length;
    $("replies").replaceChildren();
    showSteps();
    document.documentElement.dataset.ready = "";
  }

  // Pictures of long stories scroll rather than shrink.
  async function keepLegible(node) {
    await Promise.resolve(); // until they are there
    for (const each of node.querySelectorAll("svg.wide")) each.style.minHeight = `${LEAST_SCALE * each.viewBox.baseVal.height}px`;
  }

  // --- the question, as a sentence to complete

  const SLOT = /\{(\d)\}/;
  const fill = (template, people) => template.replace(new RegExp(SLOT, "g"), (_, place) => people[place % people.length]);

  // The people for whom a template is this question; null if it is another one.
  function match(template, question, people) {
    const pieces = template.split(SLOT);
    const name = `(${people.map(RegExp.escape ?? escapeRegExp).join("|")})`;
    const pattern = pieces.map((piece, place) => (place % 2 ? name : escapeRegExp(piece))).join("");
    const found = new RegExp(`^${pattern}$`, "u").exec(question);
    return found && found.slice(1);
  }

  const escapeRegExp = (part) => part.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&").replace(/\\-/g, "-");

  function showAsked(found) {
    const box = $("asked");
    const people = found.people;
    let form = null;
    let minds = 0;
    let chain = null;
    for (const each of people.length ? found.forms : []) {
      for (const [place, template] of each.templates.entries()) {
        chain ??= match(template, found.question, people);
        if (chain && !form) [form, minds] = [each, place];
      }
    }
    const parts = [];
    if (form) {
      const pieces = form.templates[minds].split(SLOT);
      const others = (place) => people.filter((name) => place === 0 || name !== chain[place - 1]);
      const change = (place, name) => {
        const now = chain.with(place, name);
        for (let next = place + 1; next < now.length; next++) {
          if (now[next] === now[next - 1]) now[next] = people.find((each) => each !== now[next - 1]);
        }
        ask(fill(form.templates[minds], now));
      };
      pieces.forEach((piece, place) => {
        if (place % 2 === 0) piece.trim() && parts.push(make("span", "data", piece.trim()));
        else parts.push(select(`Person ${Number(piece) + 1}`, others(Number(piece)), chain[piece], (name) => change(Number(piece), name)));
      });
      const last = chain.at(-1);
      const next = people.find((name) => name !== last && !chain.includes(name)) ?? people.find((name) => name !== last);
      if (form.templates.length > minds + 1 && next) {
        const more = button("+ mind", () => ask(fill(form.templates[minds + 1], [...chain, next])));
        more.setAttribute("aria-label", "Ask about one more mind");
        parts.push(more);
      }
      if (minds > 0) {
        const fewer = button("− mind", () => ask(fill(form.templates[minds - 1], chain.slice(0, -1))));
        fewer.setAttribute("aria-label", "Ask about one mind less");
        parts.push(fewer);
      }
    } else {
      parts.push(make("span", "data", found.question));
    }
    const kinds = people.length ? found.forms.map((each, place) => [`form:${place}`, `Ask ${each.title}`]) : [];
    const given = found.given.map((each, place) => [`given:${place}`, `${each.question} (${words(each.kind)})`]);
    const known = new Set(given.length ? found.given.map((each) => each.question) : []);
    const more = kinds.length ? [] : found.questions.filter((each) => !known.has(each)).map((each) => [`more:${each}`, each]);
    const now = form ? `form:${found.forms.indexOf(form)}` : "";
    if (kinds.length + given.length + more.length) {
      const picker = make("select", "kind");
      picker.setAttribute("aria-label", "Another question");
      const groups = [["", [["", "Another question …"]]], ["Kinds of question", kinds], ["Questions of the benchmark", given], ["Questions", more]];
      for (const [label, values] of groups) {
        if (!values.length) continue;
        const nodes = [...options(make("select"), values).children];
        if (!label) picker.append(...nodes);
        else {
          const group = make("optgroup", "", ...nodes);
          group.label = label;
          picker.append(group);
        }
      }
      picker.value = now;
      picker.addEventListener("change", () => pick(picker.value, chain ?? people));
      parts.push(picker);
    }
    const focused = [...box.children].indexOf(document.activeElement);
    box.replaceChildren(...parts);
    if (focused >= 0) (box.children[Math.min(focused, box.children.length - 1)] ?? box).focus();
  }

  function pick(value, people) {
    const [kind, ...rest] = value.split(":");
    if (kind === "form") {
      const all = [...new Set([...people, ...view.people])];
      ask(fill(view.forms[Number(rest[0])].templates[0], all));
    } else if (kind === "given") {
      if (own) ask(view.given[Number(rest[0])].question);
      else newStory({ ...view.reference, asked: Number(rest[0]) });
    } else if (kind === "more") {
      ask(rest.join(":"));
    }
  }

  function showAnswer(found) {
    const chip = (label, className = "", title = "") => {
      const node = make("span", `chip ${className}`, label);
      if (title) node.title = title;
      return node;
    };
    const answer = found.answer ? words(found.answer) : "no answer follows";
    const parts = [make("p", "found data", answer)];
    if (found.answer && found.confirmed) parts.push(chip("✓ proved and checked", "good", "The oracle derives it, and an independent checker confirms it."));
    else if (!found.answer && found.models.length > 1) parts.push(chip("worlds that fit differ in it", "", "The checker finds worlds that fit the story and differ in the answer."));
    else if (found.answer) parts.push(chip("the checker does not derive it under the default reading", "bad"));
    if (found.proof.length) parts.push(chip(`from ${found.proof.length > 1 ? "sentences" : "sentence"} ${found.proof.join(", ")}`));
    parts.push(make("span", "facts", Object.values(found.facts).join(" · ")));
    $("answer").replaceChildren(...parts);
  }

  function showReadings(readings) {
    $("readings-section").hidden = !readings.length;
    if (!readings.length) return;
    const first = readings[0].answer;
    const differ = readings.some((each) => each.answer !== first);
    $("readings-note").textContent = differ ? "The readings differ: the answer depends on the rule." : "All readings agree.";
    const said = (answer) => make("p", "said data", answer ? words(answer) : "no answer");
    const isFew = readings.length <= FEW_READINGS;
    const cards = isFew
      ? readings.map((each) => {
          const name = make("h3", "note", words(each.name));
          return make("div", each.answer === first ? "tile" : "tile differs", name, said(each.answer), make("p", "note", each.meaning));
        })
      : [...new Set(readings.map((each) => each.answer))].map((answer) => {
          const names = readings.filter((each) => each.answer === answer);
          const list = names.map((each) => make("li", "", make("strong", "", words(each.name)), ` ${each.meaning}`));
          const all = make("details", "", make("summary", "note", `${names.length} of ${readings.length} readings`), make("ul", "note", ...list));
          return make("div", answer === first ? "tile" : "tile differs", said(answer), all);
        });
    $("readings").classList.toggle("grouped", !isFew);
    $("readings").replaceChildren(...cards);
  }

  function showModels(found, areShown) {
    const models = found.models;
    $("models-section").hidden = !models.length || areShown; // without an answer, they are what there is to see
    const isShown = models.length === 1 && found.pictures.length > 0; // the same world again
    $("models-note").textContent =
      models.length > 1
        ? "The checker finds worlds that fit the story and differ in the answer, so none follows."
        : "The checker finds no world with another answer.";
    $("models").replaceChildren(
      ...models.map((each) => (each.picture && !isShown ? figure(each.picture, each.caption) : make("p", "data", each.caption))),
    );
  }

  // --- sentence by sentence

  // The story beside pictures that do not contain its sentences; each sentence leads to its moment.
  function showText(found) {
    const isInside = found.pictures.some((each) => each.svg.includes("data-rows="));
    $("told").hidden = isInside || !found.lines.length;
    const lines = found.lines.map((line, place) => {
      const node = button("", () => walk(place + 1), "data");
      node.append(line);
      return make("li", found.proof.includes(place + 1) ? "deciding" : "", node);
    });
    $("told").replaceChildren(...($("told").hidden ? [] : lines));
  }

  async function showSteps() {
    const number = ++latestSteps;
    try {
      const found = await request("/api/steps", { ...source(), order });
      if (number !== latestSteps) return;
      steps = found.steps;
      $("steps-section").hidden = !steps.length;
      $("player").hidden = !steps.length;
      where.max = String(steps.length);
      $("orders").hidden = !steps[0]?.entries.some((entry) => entry.chain.length);
      step(steps.length);
    } catch (error) {
      if (number !== latestSteps) return;
      steps = [];
      $("player").hidden = true;
      $("steps-section").hidden = false;
      $("moment").replaceChildren(make("p", "bad data", error.message));
    }
  }

  function step(wanted) {
    if (!steps.length) return;
    const number = Math.min(Math.max(wanted, 1), steps.length);
    where.value = String(number);
    where.setAttribute("aria-valuetext", `sentence ${number} of ${steps.length}`);
    $("back").disabled = number === 1;
    $("on").disabled = number === steps.length;
    const now = steps[number - 1];
    $("sentence").replaceChildren(make("span", "note", `${number} / ${steps.length}  `), make("span", "data", now.sentence));
    $("sentence").title = now.sentence;
    uncover(number);
    const isLast = number === steps.length;
    $("told").classList.toggle("unfinished", !isLast);
    $("told").querySelectorAll("li").forEach((each, place) => {
      each.classList.toggle("later", place >= number);
      each.classList.toggle("now", place === number - 1 && !isLast);
    });
    $("meanwhile").replaceChildren(...(now.picture && !isLast ? [figure(now.picture, now.picture.caption)] : []));
    keepLegible($("meanwhile"));
    $("pictures").hidden = !isLast && now.picture !== null;
    $("steps-title").textContent = isLast ? "At the end" : `After sentence ${number}`;
    $("moment").replaceChildren(...describe(now.entries, steps[number - 2]?.entries ?? []));
  }

  // Show the pictures of the story as far as it is told.
  function uncover(number) {
    const isLast = number === steps.length;
    for (const picture of $("pictures").querySelectorAll("svg[data-rows]")) {
      const rows = picture.dataset.rows.split(" ").map(Number);
      const told = picture.querySelector(".told");
      const wasUnfinished = picture.classList.contains("unfinished");
      picture.classList.toggle("unfinished", !isLast);
      for (const each of picture.querySelectorAll(".proof")) each.classList.toggle("lit", isLast && wasUnfinished);
      const { width, height } = picture.viewBox.baseVal;
      const end = rows[number] ?? height;
      told.style.clipPath = `polygon(0 0, ${width}px 0, ${width}px ${end}px, 0 ${end}px) view-box`;
      const { top, height: shown } = picture.getBoundingClientRect();
      const bottom = top + (shown * (rows[number] ?? height)) / height;
      if (playing && shown && bottom > window.innerHeight) window.scrollBy({ top: bottom - window.innerHeight + 40, behavior: "smooth" });
    }
  }

  function stop() {
    window.clearTimeout(playing);
    playing = 0;
    $("player").classList.remove("is-playing");
    $("play").setAttribute("aria-label", "Play");
  }

  function play() {
    if (playing) {
      stop();
      return;
    }
    $("player").classList.add("is-playing");
    $("play").setAttribute("aria-label", "Pause");
    const isAtEnd = Number(where.value) === steps.length;
    const next = (number) => {
      step(number);
      if (number >= steps.length) stop();
      else playing = window.setTimeout(() => next(number + 1), STEP_MS);
    };
    playing = 1;
    next(isAtEnd ? 1 : Number(where.value) + 1);
  }

  const walk = (wanted) => {
    stop();
    step(wanted);
  };

  // What holds: beliefs and relations as matrices of people, the rest in lists. An entry is {group, name, value, is_wrong,
  // chain, pair}.
  function describe(entries, before) {
    const earlier = new Map(before.map((each) => [`${each.group}\n${each.name}`, each.value]));
    const hasChanged = (entry) => before.length > 0 && (earlier.get(`${entry.group}\n${entry.name}`) ?? "") !== entry.value;
    const beliefs = entries.filter((entry) => entry.chain.length);
    if (entries.some((entry) => entry.pair.length)) return [relations(entries, hasChanged)];
    if (!beliefs.length) return [lists(entries, hasChanged)];
    const chips = entries.filter((entry) => !entry.chain.length && (entry.value || entry.name === "really"));
    const really = chips.map((entry) => {
      const node = make("span", "chip", make("strong", "data", `${words(entry.name)}:`), " ", make("span", "data", words(entry.value) || "–"));
      node.title = entry.group;
      return node;
    });
    return [make("p", "really", ...really), matrix(beliefs, hasChanged)];
  }

  function matrix(beliefs, hasChanged) {
    const people = beliefs.filter((each) => each.chain.length === 1).map((each) => each.chain[0]);
    const by = new Map(beliefs.map((each) => [each.chain.join("\n"), each]));
    const deepest = Math.max(...beliefs.map((each) => each.chain.length));
    const count = Math.max(deepest - 2, 0);
    outer = outer.filter((name) => people.includes(name)).slice(0, count);
    while (outer.length < count) outer.push(people.find((name) => name !== outer.at(-1)));
    const parts = [];
    if (count) {
      const selects = outer.map((name, place) =>
        select(`Mind ${place + 1}`, people.filter((each) => place === 0 || each !== outer[place - 1]), name, (value) => {
          outer[place] = value;
          for (let next = place + 1; next < outer.length; next++) {
            if (outer[next] === outer[next - 1]) outer[next] = people.find((each) => each !== outer[next - 1]);
          }
          step(Number(where.value));
        }),
      );
      parts.push(make("p", "according", ...selects.flatMap((each) => [each, "thinks that"]), "…"));
    }
    const cellOf = (chain, isOwn) => {
      const entry = by.get(chain.join("\n"));
      if (!entry) return make("td", "same", "·");
      const classes = [isOwn ? "own" : "", entry.is_wrong ? "wrong" : "", entry.value ? "" : "none", hasChanged(entry) ? "changed" : ""];
      const shown = make("span", "data", words(entry.value) || "no idea");
      const node = make("td", classes.filter(Boolean).join(" "), ...(entry.is_wrong ? ["✗ ", shown] : [shown]));
      node.title = `${entry.name} it is in: ${entry.value || "no idea"}${entry.is_wrong ? " (wrong)" : ""}`;
      return node;
    };
    const isDeep = deepest > 1;
    const head = (content, scope) => {
      const node = make("th", "", content);
      node.scope = scope;
      return node;
    };
    const name = (each) => make("strong", "data", each);
    const rows = people.map((one) => {
      const first = head(name(one), "row");
      const itself = cellOf(outer.at(-1) === one ? outer : [...outer, one], true);
      const about = isDeep ? people.map((two) => cellOf([...outer, one, two], false)) : [];
      const cells = outer.at(-1) === one ? [itself, ...people.map(() => make("td", "same", "·"))].slice(0, about.length + 1) : [itself, ...about];
      return make("tr", "", first, ...cells);
    });
    const heads = [make("td", "same"), head(isDeep ? "thinks" : "thinks it is in", "col"), ...(isDeep ? people.map((each) => head(make("span", "", "that ", name(each), " thinks"), "col")) : [])];
    const table = make("table", people.length > 4 && isDeep ? "matrix many" : "matrix", make("thead", "", make("tr", "", ...heads)), make("tbody", "", ...rows));
    const holder = make("div", "scroll", table);
    holder.tabIndex = 0;
    holder.setAttribute("role", "region");
    holder.setAttribute("aria-label", "Who thinks what");
    const key = "✗ wrong about where it is, or about what the other thinks; framed: changed by this sentence.";
    return make("div", "", ...parts, holder, make("p", "note", key));
  }

  // What the person of a row is to that of a column. The first entry is what is asked.
  function relations(entries, hasChanged) {
    const names = new Set(entries.flatMap((entry) => entry.pair));
    const text = view.lines.join(" ");
    const people = [...names].sort((one, other) => text.indexOf(one) - text.indexOf(other));
    const by = new Map(entries.map((entry) => [entry.pair.join("\n"), entry]));
    const head = (scope, ...content) => {
      const node = make("th", "", ...content);
      node.scope = scope;
      return node;
    };
    const cellOf = (row, column) => {
      const entry = by.get(`${column}\n${row}`);
      if (row === column || !entry) return make("td", "same", "·");
      const isStated = entry.group === "what is stated";
      const classes = [entry === entries[0] ? "asked" : "", isStated && entry.value ? "own" : "", hasChanged(entry) ? "changed" : ""];
      const relation = make("span", "data");
      relation.append(...(entry.value || (entry === entries[0] ? "?" : "")).split(/(?<=grand)/).flatMap((part) => [part, make("wbr")]));
      const node = make("td", classes.filter(Boolean).join(" "), relation);
      node.title = entry.value ? `${entry.name} ${entry.value}${isStated ? " (stated)" : ""}` : "";
      return node;
    };
    const heads = [make("td", "same"), ...people.map((each) => head("col", "is ", make("strong", "data", `${each}’s`)))];
    const rows = people.map((each) =>
      make("tr", "", head("row", make("strong", "data", each)), ...people.map((other) => cellOf(each, other))),
    );
    const table = make("table", people.length > 5 ? "matrix kin many" : "matrix kin", make("thead", "", make("tr", "", ...heads)), make("tbody", "", ...rows));
    const holder = make("div", "scroll", table);
    holder.tabIndex = 0;
    holder.setAttribute("role", "region");
    holder.setAttribute("aria-label", "Who is what to whom");
    return make("div", "", holder, make("p", "note", "Shaded: stated; plain: follows; blue: what is asked; framed: new with this sentence."));
  }

  function lists(entries, hasChanged) {
    const groups = new Map();
    for (const entry of entries) {
      if (!groups.has(entry.group)) groups.set(entry.group, []);
      groups.get(entry.group).push(entry);
    }
    const tables = [...groups].map(([group, each]) => {
      const rows = each.map((entry) => {
        const first = make("th", "", make("span", "data", entry.name));
        first.scope = "row";
        const value = make("td", "", make("span", entry.is_wrong ? "data bad" : "data", entry.value || "–"));
        return make("tr", hasChanged(entry) ? "changed" : "", first, value);
      });
      return make("table", "", make("caption", "", group), make("tbody", "", ...rows));
    });
    return make("div", "groups", ...tables);
  }

  function showOrders() {
    const labels = ORDERS.map((each) => {
      const box = make("input");
      Object.assign(box, { type: "radio", name: "order", value: String(each), checked: each === order });
      box.addEventListener("change", () => {
        order = each;
        if (view) showSteps();
        else return;
        refreshForms();
      });
      return make("label", "", box, `${each} ${each === 1 ? "mind" : "minds"}`);
    });
    $("orders").append(...labels);
  }

  // Questions may go through as many minds as are shown.
  async function refreshForms() {
    const number = latest;
    try {
      const path = own ? "/api/read" : "/api/story";
      const found = await request(path, { ...source(), order });
      if (number !== latest) return;
      view = { ...view, forms: found.forms, questions: found.questions };
      showAsked(view);
    } catch {
      // The question stays as it is.
    }
  }

  // --- models

  async function askModel() {
    const model = asking.elements.model.value;
    const card = make("div", "reply", make("p", "", make("strong", "data", model), " is thinking …"));
    $("replies").prepend(card);
    const growing = make("p", "growing data");
    const hear = (said) => {
      if (!growing.isConnected) card.replaceChildren(make("p", "", make("strong", "data", model), " says …"), growing);
      growing.textContent = said;
    };
    try {
      const body = { ...source(), model, prompt: asking.elements.prompt.value, conventions: asking.elements.conventions.checked };
      const found = await request("/api/ask", body, hear);
      const careful = found.matches.careful;
      const said = found.cut_off ? "(cut off before an answer)" : found.answer || "(nothing)";
      const answer = make("p", "", make("strong", "data", found.model), " says ", make("strong", "said data", said));
      const parts = [answer];
      if (careful) {
        card.classList.add(careful.right ? "right" : "wrong");
        const why = found.mistake ? `; it answered ${found.mistake}` : "";
        const verdict = careful.right ? "✓ right" : `✗ wrong; ${words(found.target)} is proved${why}`;
        parts.push(make("p", careful.right ? "good data" : "bad data", verdict));
      }
      for (const each of found.steps) {
        parts.push(make("details", "", make("summary", "note", "Prompt and reply"), make("pre", "data", each.prompt), make("pre", "data", each.reply)));
      }
      card.replaceChildren(...parts);
    } catch (error) {
      card.classList.add("wrong");
      card.replaceChildren(make("p", "", make("strong", "data", model), ": ", make("span", "bad data", error.message)));
    }
  }

  function showPrompts(models) {
    const isLanguageModel = models.find((each) => each.name === asking.elements.model.value)?.prompts ?? false;
    for (const name of ["prompt-label", "conventions-label"]) $(name).hidden = !isLanguageModel;
    $("ask-note").hidden = models.some((each) => each.prompts);
  }

  // --- downloads

  async function makeDataset() {
    const fields = $("download").elements;
    const counts = {};
    for (const name of ["train", "val", "test", "seed"]) counts[name] = Math.round(Number(fields[name].value)) || 0;
    $("downloaded").textContent = "Making the files …";
    try {
      const found = await request("/api/dataset", { ...turned(), ...counts, format: fields.format.value });
      const link = make("a", "", found.file);
      link.href = `/downloads/${encodeURIComponent(found.file)}`;
      link.download = found.file;
      const told = Object.entries(found.splits).map(([split, each]) => `${split}: ${each.stories} stories, ${each.questions} questions`);
      $("downloaded").replaceChildren(link, ` (${told.join("; ")})`);
      link.click();
    } catch (error) {
      $("downloaded").replaceChildren(make("span", "bad data", error.message));
    }
  }

  // --- links and files

  async function copyLink() {
    try {
      await navigator.clipboard.writeText(location.href);
      flash($("link"), "Copied");
    } catch {
      flash($("link"), "Copy it from the address bar");
    }
  }

  function flash(node, label) {
    const before = node.dataset.label ?? node.textContent;
    node.dataset.label = before;
    node.textContent = label;
    window.setTimeout(() => (node.textContent = before), 1600);
  }

  // What a card says: the story where the picture does not contain it, and the answer; the newest wrong reply struck out.
  function card() {
    const wrong = document.querySelector("#replies .wrong .said");
    const model = wrong?.parentElement.querySelector("strong").textContent;
    const isInside = $("told").hidden;
    const answer = view.answer ? words(view.answer) : "none follows: families or worlds that fit differ in it";
    return {
      title: view.question,
      pictures: page.shownPictures($("pictures")),
      lines: [
        ...(isInside ? [] : [["", page.short(view.lines.join(" "), LONGEST_ON_CARD), "soft"]]),
        ...(wrong ? [[`${model}:`, page.short(wrong.textContent), "wrong"]] : []),
        [view.confirmed ? "Proved:" : "Answer:", answer, "right"],
        ...(view.proof.length ? [["Proof:", `sentence${view.proof.length > 1 ? "s" : ""} ${view.proof.join(", ")}`, "soft"]] : []),
      ],
    };
  }

  // --- events

  function follow() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    if (wanted.has("story")) {
      text.elements.story.value = wanted.get("story");
      text.elements.question.value = wanted.get("question") ?? "";
      text.elements.people.value = "";
      openTab("write");
      readText();
      return true;
    }
    const benchmark = benchmarks.find((each) => each.name === wanted.get("benchmark"));
    if (!benchmark) return false;
    const number = (name) => (/^\d{1,15}$/.test(wanted.get(name) ?? "") ? Number(wanted.get(name)) : undefined);
    const settings = {};
    for (const dial of benchmark.dials) {
      const value = wanted.get(`dial.${dial.name}`);
      if (value !== null) settings[dial.name] = dial.kind === "switch" ? value === "true" : value;
    }
    dials.elements.benchmark.value = benchmark.name;
    showBenchmark(settings, wanted.get("preset") ?? "");
    const split = wanted.get("split") ?? "test";
    dials.elements.split.value = split;
    const found = { benchmark: benchmark.name, preset, settings, split };
    for (const name of ["place", "number", "asked"]) if (number(name) !== undefined) found[name] = number(name);
    newStory(found);
    return true;
  }

  function showSamples() {
    const chips = samples.map((each) =>
      button(each.title, () => {
        text.elements.story.value = each.story;
        text.elements.question.value = each.question;
        text.elements.people.value = "";
        text.elements.family.value = "";
        openTab("write");
        readText();
      }),
    );
    $("samples").replaceChildren(...chips);
  }

  dials.addEventListener("submit", (event) => {
    event.preventDefault();
    newStory();
  });
  dials.addEventListener("change", (event) => {
    if (event.target.name === "benchmark") showBenchmark();
    newStory();
  });
  text.addEventListener("submit", (event) => {
    event.preventDefault();
    readText();
  });
  text.addEventListener("input", (event) => {
    if (event.target.name === "story") {
      marks = [];
      underline();
      readSoon();
    } else if (["question", "people"].includes(event.target.name)) readSoon();
  });
  text.addEventListener("change", (event) => {
    if (event.target.name === "family") readText();
  });
  text.elements.story.addEventListener("scroll", underline);
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      readText();
    }
  });
  asking.addEventListener("submit", (event) => {
    event.preventDefault();
    if (view) askModel();
  });
  $("asked").addEventListener("submit", (event) => event.preventDefault());
  $("download").addEventListener("submit", (event) => {
    event.preventDefault();
    makeDataset();
  });
  $("back").addEventListener("click", () => walk(Number(where.value) - 1));
  $("on").addEventListener("click", () => walk(Number(where.value) + 1));
  $("play").addEventListener("click", play);
  where.addEventListener("input", () => walk(Number(where.value)));
  $("link").addEventListener("click", copyLink);
  document.querySelector(".tools").append(page.cardButton("storyproof-story", card));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select, textarea, [tabindex='0']:not(button), [role=tab]")) return;
    if (event.key === "n") newStory();
    else if (event.key === "ArrowLeft") walk(Number(where.value) - 1);
    else if (event.key === "ArrowRight") walk(Number(where.value) + 1);
    else if (event.key === " " && !event.target.closest("button, summary, a")) play();
    else return;
    event.preventDefault();
  });
  window.addEventListener("hashchange", () => follow());

  async function start() {
    try {
      const found = await request("/api/start");
      benchmarks = found.benchmarks;
      const byFamily = new Map(benchmarks.map((each) => [each.family, each]));
      samples = [...byFamily.values()].flatMap((each) => each.samples);
      options(dials.elements.benchmark, benchmarks.map((each) => [each.name, each.name]));
      options(text.elements.family, [["", "by the question"], ...[...byFamily].map(([name, each]) => [name, each.title])]);
      options(asking.elements.model, found.models.map((each) => each.name));
      options(asking.elements.prompt, found.prompts, "zero-shot");
      asking.elements.model.addEventListener("change", () => showPrompts(found.models));
      showPrompts(found.models);
      showOrders();
      showSamples();
      showBenchmark();
      if (!follow()) newStory();
    } catch (error) {
      say(error.message, true);
    }
  }

  start();
})();
