// The menu for the simulated network conditions. They can be changed during playback, without a reload.

import { fetchConditions } from './api.js';
import { createElement, setText, setTextOrHide } from './element.js';

const find = (id) => document.getElementById(id);
const waitingIntervalMilliseconds = 500;

/** Event: `change` when the user has selected other conditions. */
export class NetworkConditionsMenu extends EventTarget {
    #select = find('network');
    // The conditions of the server, under the name that a playback URL can have; empty if it has none.
    #serverDefault = '';
    #firstLoad = Promise.withResolvers();
    #waitingSince;
    // The position of the video at the last look at it.
    #position;

    constructor(video) {
        super();
        this.#select.addEventListener('change', () => {
            this.#updateNote();
            this.dispatchEvent(new Event('change'));
        });
        this.#updateNote();
        setInterval(() => this.#updateWaitingNote(video), waitingIntervalMilliseconds);
    }

    /**
     * The name of the conditions for a playback URL: those that are selected, or those of the server; empty if they have no
     * name. A stream that is played with a name from its beginning needs no reload when the conditions change.
     */
    get value() {
        return this.#select.value || this.#serverDefault;
    }

    /** A promise that is resolved when the conditions of the server are known, or could not be loaded. */
    get isKnown() {
        return this.#firstLoad.promise;
    }

    /** Loads the available conditions. */
    async load() {
        try {
            this.#show(await fetchConditions());
        } finally {
            this.#firstLoad.resolve();
        }
    }

    #show({ presets, shared }) {
        this.#serverDefault = presets.includes(shared) ? shared : '';
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
        setTextOrHide(find('network-note'), this.#select.value
            ? 'The server sends playlists and media as if over this network. You can change it during playback.' : '');
    }

    /** Says why nothing moves: the buffer is empty, and the network delivers too little. */
    #updateWaitingNote(video) {
        // The events of the video do not tell: a browser reports progress after it has begun to wait.
        const moves = video.currentTime !== this.#position;
        this.#position = video.currentTime;
        const wantsData = video.currentSrc && !video.paused && !video.ended && !video.error;
        if (moves || !wantsData) this.#waitingSince = undefined;
        else this.#waitingSince ??= performance.now();
        const seconds = this.#waitingSince === undefined ? 0 : (performance.now() - this.#waitingSince) / 1000;
        const isWaiting = seconds >= 2;
        const name = this.#select.selectedOptions[0]?.text ?? '';
        setTextOrHide(find('waiting-note'), isWaiting
            ? `Playback has waited for data for ${Math.floor(seconds)} s. The network conditions are “${name}”; other conditions `
                + 'apply at once.'
            : '');
    }
}
