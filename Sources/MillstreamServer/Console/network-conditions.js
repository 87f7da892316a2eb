// The menu for the simulated network conditions of the stream that is played. They can be changed during playback, without a reload.

import { createElement, setText, setTextOrHide } from './element.js';
import { perfectConditions } from './simulated-network.js';

const find = (id) => document.getElementById(id);

/** Event: `change` when other conditions are selected, by the user or by another part of the page. */
export class NetworkConditionsMenu extends EventTarget {
    #select = find('network');
    // The name of the conditions of all streams without conditions.
    #shared = perfectConditions;

    constructor(serverConditions) {
        super();
        this.#select.addEventListener('change', () => {
            this.#updateNote();
            this.dispatchEvent(new Event('change'));
        });
        serverConditions.addEventListener('change', () => this.#updateOptions(serverConditions));
        this.#updateNote();
    }

    /** The name of the selected conditions; empty for those of all streams without conditions. */
    get value() {
        return this.#select.value;
    }

    /** Whether the menu has conditions with a name. */
    has(name) {
        return [...this.#select.options].some(({ value }) => value === name);
    }

    /** Shows the conditions that the stream has. */
    show(name) {
        if (name === this.#select.value || !this.has(name)) return;
        this.#select.value = name;
        this.#updateNote();
    }

    /** Whether the selected conditions limit the network. */
    get hasEffect() {
        return (this.value || this.#shared) !== perfectConditions;
    }

    /** The selected conditions as a text: “3G”, or “Server default (Off)”. */
    get text() {
        return this.#select.selectedOptions[0]?.text ?? '';
    }

    #updateOptions({ presets, shared }) {
        this.#shared = shared;
        const [serverDefault, ...others] = this.#select.options;
        setText(serverDefault, `Server default (${shared})`);
        if (presets.join('\n') === others.map(({ value }) => value).join('\n')) return;
        const selected = this.#select.value;
        this.#select.replaceChildren(
            serverDefault,
            ...presets.map((name) => createElement('option', { value: name, text: name })),
        );
        this.#select.value = presets.includes(selected) ? selected : '';
    }

    #updateNote() {
        setTextOrHide(find('network-note'), this.#select.value
            ? 'The server sends playlists and media as if over this network. You can change it during playback.' : '');
    }
}
