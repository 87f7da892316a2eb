// The controls of edits. They are derived from the definitions that the server returns (GET /api/edits).

import { createElement, setAttribute, setHidden, setText, setTextOrHide, setTextWithURLsOrHide } from './element.js';
import { showMessage } from './messages.js';

/**
 * Creates the control of an edit; `id` is that of its field, which the page must not have yet.
 *
 * A control has `definition`, `node`, `fields` (the inputs, which can be disabled), `value` (the value for the playback
 * URL, or `undefined` without the edit) and `reset()`. A control with menus of streams also has `updateStreams(store)`, and
 * `checkStreams(findRefusal)` if the server knows which streams cannot be used. A control with a single field also has
 * `showError(text)`, which shows why its value is refused next to it, or nothing. The fields send `change` events.
 */
export function createEditControl(definition, id = definition.name) {
    const create = definition.parameter ? creators[definition.parameter.type] ?? createTextField : createCheckbox;
    return { definition, ...create({ ...definition, id }) };
}

const creators = {
    integer: createNumberField,
    decimal: createNumberField,
    source: createStreamMenu,
    'source-at-time': (definition) => createStreamMenuWithPosition(definition, 'time'),
    'source-at-breaks': (definition) => createStreamMenuWithPosition(definition, 'rule'),
};

function createCheckbox({ id, title, summary }) {
    const input = createElement('input', { type: 'checkbox', id });
    return {
        node: createElement('label', { class: 'checkbox', title: summary }, input, ` ${title}`),
        fields: [input],
        value: () => (input.checked ? '' : undefined),
        reset: () => { input.checked = false; },
    };
}

function createTextField({ id, title, summary, parameter, examples = [] }) {
    const input = createElement('input', {
        type: 'text', id, autocomplete: 'off', spellcheck: 'false', title: summary,
        placeholder: exampleText(examples[0]) ?? parameter.placeholder, 'aria-describedby': `${id}-error`,
    });
    const { node, showError } = fieldWithError(id, title, summary, input);
    input.addEventListener('change', () => showError(undefined));
    return {
        node,
        fields: [input],
        value: () => input.value.trim() || undefined,
        reset: () => {
            input.value = '';
            showError(undefined);
        },
        showError,
    };
}

function createNumberField({ id, title, summary, parameter, examples = [] }) {
    const { type, minimum, maximum, form } = parameter;
    const input = createElement('input', {
        type: 'number', id, min: minimum, max: maximum, step: type === 'decimal' ? 'any' : 1, title: summary,
        placeholder: exampleText(examples[0]), 'aria-describedby': `${id}-error`,
    });
    const { node, showError } = fieldWithError(id, title, summary, input);
    input.addEventListener('change', () => {
        const error = input.validity.valid ? undefined : `${title} must be ${form}.`;
        showError(error);
        if (error) showMessage(error, { type: 'error', isVisible: false });
    });
    return {
        node,
        fields: [input],
        value: () => (input.validity.valid && input.value ? input.value : undefined),
        reset: () => {
            input.value = '';
            showError(undefined);
        },
        showError,
    };
}

function createStreamMenu({ id, title, summary }) {
    const menu = new StreamMenu(id, title, summary, (url) => url);
    const row = labeledField(id, title, summary, menu.select);
    return {
        node: createElement('div', { class: 'stream-control' }, row, menu.urlField, menu.note),
        fields: [menu.select, menu.urlField],
        value: () => menu.url,
        reset: () => menu.reset(),
        updateStreams: (store) => menu.update(store),
        checkStreams: (findRefusal) => { menu.findRefusal = findRefusal; },
    };
}

/** A menu of streams with a field for the position, a time or a rule, that follows the URL of the stream after `@`. */
function createStreamMenuWithPosition({ id, title, summary, examples = [] }, position) {
    const example = examples[0]?.split('@').at(-1);
    const field = createElement('input', {
        type: 'text', id: `${id}-${position}`, autocomplete: 'off', spellcheck: 'false', title: summary,
        placeholder: exampleText(example), 'aria-label': `${title}: ${position}`,
    });
    const valueFor = (url) => (url && field.value.trim() ? `${url}@${field.value.trim()}` : undefined);
    const menu = new StreamMenu(id, title, summary, valueFor);
    const value = () => valueFor(menu.url);
    const row = labeledField(id, title, summary, createElement('div', { class: 'field-row' }, menu.select, field));
    const node = createElement('div', { class: 'stream-control' }, row, menu.urlField, menu.note);
    node.addEventListener('change', () => {
        menu.showRefusals();
        const isMissing = Boolean(menu.url) && !field.value.trim();
        setAttribute(field, 'aria-invalid', isMissing ? 'true' : null);
        if (isMissing) showMessage(`${title} also requires a ${position}, such as ${example}.`);
    });
    return {
        node,
        fields: [menu.select, field, menu.urlField],
        value,
        reset: () => {
            menu.reset();
            field.value = '';
            setAttribute(field, 'aria-invalid', null);
        },
        updateStreams: (store) => menu.update(store),
        // Breaks are known only when a player requests a media playlist.
        checkStreams: position === 'time' ? (findRefusal) => { menu.findRefusal = findRefusal; } : undefined,
    };
}

function labeledField(id, title, summary, field) {
    return createElement('div', { class: 'field' },
        createElement('label', { for: id, text: title, title: summary }), field);
}

/** Returns an example of a value in a form that no user takes for a value; `undefined` without an example. */
function exampleText(example) {
    return example === undefined ? undefined : `e.g. ${example}`;
}

/** Creates a field with a label and a text that is hidden until its value is refused; the text describes `input` by its identifier. */
function fieldWithError(id, title, summary, input) {
    const note = createElement('p', { class: 'error', id: `${id}-error`, hidden: true });
    const node = labeledField(id, title, summary, input);
    node.append(note);
    const showError = (text) => {
        setAttribute(input, 'aria-invalid', text ? 'true' : null);
        setTextOrHide(note, text);
    };
    return { node, showError };
}

/** The value of the option for the stream at a URL; identifiers of streams have no such character. */
const otherURL = ':url';

/** The maximum number of streams for which the server is asked whether they can be used. */
const maximumCheckedStreams = 32;

/**
 * A menu of the HLS streams in the catalog, and a field for the URL of another stream.
 *
 * When the menu receives the focus, it asks which streams can be used, and disables the others. `valueFor(url)` returns the value of
 * the edit with the stream at a URL, or `undefined` if that is not complete.
 */
class StreamMenu {
    /** Returns why the server refuses a value of the edit, or `undefined`; asynchronous. */
    findRefusal;
    #valueFor;
    #store;
    #streams = [];
    #options;
    // The reasons for which values are refused; `undefined` for values that are not.
    #refusals = new Map();
    #checkCount = 0;

    constructor(id, title, summary, valueFor) {
        this.#valueFor = valueFor;
        this.note = createElement('p', { class: 'note', id: `${id}-note`, hidden: true });
        this.select = createElement('select', { id, title: summary });
        this.urlField = createElement('input', {
            type: 'url', id: `${id}-url`, class: 'stream-url', hidden: true, autocomplete: 'off', spellcheck: 'false', title: summary,
            placeholder: 'https://…', 'aria-label': `${title}: URL`,
        });
        this.#showOptions();
        this.select.addEventListener('change', () => this.#showField());
        this.select.addEventListener('focus', () => this.#checkStreams());
        this.urlField.addEventListener('change', () => {
            const isInvalid = this.urlField.value.trim() !== '' && !this.url;
            setAttribute(this.urlField, 'aria-invalid', isInvalid ? 'true' : null);
            if (isInvalid) showMessage(`${title}: the URL must start with http:// or https://.`, { type: 'error' });
        });
    }

    /** The URL of the selected stream, or the one that was entered; `undefined` without a valid one. */
    get url() {
        if (!this.#isOther) return this.#store?.stream(this.select.value)?.url;
        const url = this.urlField.value.trim();
        return /^https?:\/\/[^/]/i.test(url) ? url : undefined;
    }

    reset() {
        this.select.value = '';
        this.urlField.value = '';
        setAttribute(this.urlField, 'aria-invalid', null);
        this.#showField();
        // They are those of another stream.
        this.#checkCount += 1;
        this.#refusals.clear();
        this.showRefusals();
    }

    /** Asks which streams can be used, one after the other, until another stream is selected. */
    async #checkStreams() {
        if (!this.findRefusal) return;
        this.#checkCount += 1;
        const check = this.#checkCount;
        for (const { url } of this.#streams.slice(0, maximumCheckedStreams)) {
            const value = this.#valueFor(url);
            if (value === undefined || this.#refusals.has(value)) continue;
            const refusal = await this.findRefusal(value);
            if (check !== this.#checkCount) return;
            this.#refusals.set(value, refusal);
            this.showRefusals();
        }
    }

    /** Disables the streams that cannot be used, and shows why. */
    showRefusals() {
        let reason;
        for (const { id, name, url } of this.#streams) {
            const refusal = this.#refusals.get(this.#valueFor(url));
            const option = [...this.select.options].find(({ value }) => value === id);
            if (!option) continue;
            option.disabled = refusal !== undefined;
            setText(option, refusal === undefined ? name : `${name} (cannot be stitched)`);
            setAttribute(option, 'title', refusal);
            reason ??= refusal;
        }
        setTextWithURLsOrHide(this.note, reason && `Some streams cannot be stitched to this one. ${reason}`);
    }

    update(store) {
        this.#store = store;
        this.#streams = store.streams.filter((stream) => stream.kind !== 'file' && stream.edits.length === 0);
        this.#showOptions();
    }

    get #isOther() {
        return this.select.value === otherURL;
    }

    #showField() {
        setHidden(this.urlField, !this.#isOther);
    }

    #showOptions() {
        const streams = this.#streams;
        const options = JSON.stringify(streams.map(({ id, name, advertisement }) => [id, name, Boolean(advertisement)]));
        // Replaced only if they differ, because that closes an open menu.
        if (options === this.#options) return;
        this.#options = options;
        const selected = this.select.value;
        const group = (label, members) => members.length === 0 ? [] : [createElement('optgroup', { label },
            ...members.map(({ id, name }) => createElement('option', { value: id, text: name })))];
        this.select.replaceChildren(
            createElement('option', { value: '', text: 'None' }),
            ...group('Advertisements', streams.filter((stream) => stream.advertisement)),
            ...group('Streams', streams.filter((stream) => !stream.advertisement)),
            createElement('option', { value: otherURL, text: 'Other URL…' }),
        );
        if (selected === otherURL || streams.some(({ id }) => id === selected)) this.select.value = selected;
        this.showRefusals();
    }
}
