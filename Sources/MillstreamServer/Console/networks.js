// The networks over which the server sends to all players: the one of streams without conditions in their playback URL, and
// that of each stream with conditions.

import { changeConditions, fetchConditions } from './api.js';
import { createElement, setText, setTextOrHide } from './element.js';
import { errorMessage } from './error-message.js';
import { formatSize } from './format.js';
import { KeyedList } from './keyed-list.js';
import { showError } from './messages.js';

const intervalMilliseconds = 3000;

class NetworkRow {
    element;
    #link = {};
    #name = createElement('span', { class: 'network-name' });
    #detail = createElement('span', { class: 'note' });
    #select = createElement('select');

    constructor(key, onChange) {
        this.#select.addEventListener('change', () => onChange(this.#link, this.#select.value));
        this.element = createElement('li', {}, createElement('label', {}, this.#name, this.#select), this.#detail);
    }

    update({ name, detail, presets, link }) {
        this.#link = link;
        setText(this.#name, name);
        setTextOrHide(this.#detail, detail);
        const isSame = presets.join('\n') === [...this.#select.options].map(({ value }) => value).join('\n');
        if (!isSame) this.#select.replaceChildren(...presets.map((value) => createElement('option', { value, text: value })));
        // An open menu keeps the option that the user is about to choose.
        if (document.activeElement !== this.#select) this.#select.value = link.conditions;
    }
}

export class Networks {
    #store;
    #list;

    constructor(store) {
        this.#store = store;
        this.#list = new KeyedList(document.getElementById('networks-list'),
            (key) => new NetworkRow(key, (...change) => this.#change(...change)), document.getElementById('networks-title'));
        setInterval(() => {
            if (!document.hidden) this.load().catch(() => {});
        }, intervalMilliseconds);
    }

    /** Loads the networks of the server. */
    async load() {
        this.#show(await fetchConditions());
    }

    #show({ presets, shared, links }) {
        const rows = links.map((link) => [link.id, {
            name: this.#nameOf(link.url), presets, link,
            detail: `conditions=${link.named}, ${formatSize(link.transmittedBytes)} sent`,
        }]);
        this.#list.update([['', { name: 'All streams without conditions', presets, link: { conditions: shared } }], ...rows]);
    }

    /** Returns the name of the stream or the offline copy at a URL, or the URL. */
    #nameOf(url) {
        const id = /^\/offline\/([^/]+)\//.exec(url)?.[1];
        const asset = this.#store.assets.find((one) => one.id === id);
        return this.#store.streamForURL(url)?.name ?? (asset ? `${asset.title} (offline copy)` : url);
    }

    async #change({ url, named }, conditions) {
        try {
            this.#show(await changeConditions({ url, named, conditions }));
        } catch (error) {
            showError(`The network conditions could not be changed. ${errorMessage(error)}`);
            this.load().catch(() => {});
        }
    }
}
