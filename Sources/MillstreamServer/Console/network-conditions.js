// The menu for the simulated network conditions. They can be changed during playback, without a reload.

import { fetchConditions } from './api.js';
import { createElement, setText, setTextOrHide } from './element.js';

const find = (id) => document.getElementById(id);

/** Event: `change` when the user has selected other conditions. */
export class NetworkConditionsMenu extends EventTarget {
    #select = find('network');

    constructor() {
        super();
        this.#select.addEventListener('change', () => {
            this.#updateNote();
            this.dispatchEvent(new Event('change'));
        });
        this.#updateNote();
    }

    /** The name of the selected conditions; empty for those of the server. */
    get value() {
        return this.#select.value;
    }

    /** Loads the available conditions. */
    async load() {
        const { presets, shared } = await fetchConditions();
        const selected = this.#select.value;
        const serverDefault = this.#select.options[0];
        setText(serverDefault, `Server default (${shared})`);
        this.#select.replaceChildren(
            serverDefault,
            ...presets.map((name) => createElement('option', { value: name, text: name })),
        );
        this.#select.value = presets.includes(selected) ? selected : '';
    }

    #updateNote() {
        setTextOrHide(find('network-note'), this.value
            ? 'The server sends playlists and media as if over this network. You can change it during playback.' : '');
    }
}
