// The networks over which the server sends to all players: the one of streams without conditions in their playback URL, and
// that of each stream with conditions.

import { createElement, setText, setTextOrHide } from './element.js';
import { errorMessage } from './error-message.js';
import { formatSize } from './format.js';
import { KeyedList } from './keyed-list.js';
import { dismissErrors, showError } from './messages.js';
import { sharedConditions } from './playback-url.js';

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

    update({ name, detail, options, link }) {
        this.#link = link;
        setText(this.#name, name);
        setTextOrHide(this.#detail, detail);
        const shown = [...this.#select.options].map(({ value, textContent }) => ({ value, text: textContent }));
        if (JSON.stringify(options) !== JSON.stringify(shown)) {
            const selected = this.#select.value;
            this.#select.replaceChildren(...options.map((option) => createElement('option', option)));
            this.#select.value = selected;
        }
        // An open menu keeps the option that the user is about to choose.
        if (document.activeElement !== this.#select) this.#select.value = link.default ? sharedConditions : link.conditions;
    }
}

export class Networks {
    #store;
    #conditions;
    #player;
    #list;

    constructor(store, serverConditions, player) {
        this.#store = store;
        this.#conditions = serverConditions;
        this.#player = player;
        this.#list = new KeyedList(document.getElementById('networks-list'),
            (key) => new NetworkRow(key, (...change) => this.#change(...change)), document.getElementById('networks-title'));
        serverConditions.addEventListener('change', () => this.#show(serverConditions));
    }

    #show({ presets, shared, links }) {
        const options = presets.map((name) => ({ value: name, text: name }));
        const ofLinks = [{ value: sharedConditions, text: `Server default (${shared})` }, ...options];
        const isOfPage = ({ id }) => this.#player.hasPlayed(id);
        const sorted = links.toSorted((one, other) => isOfPage(other) - isOfPage(one));
        const rows = sorted.map((link) => [link.id, {
            name: this.#nameOf(link.url), options: ofLinks, link,
            detail: `${isOfPage(link) ? 'Played by this page' : `conditions=${link.named}`}, `
                + `${formatSize(link.transmittedBytes)} sent`,
        }]);
        this.#list.update([['', { name: 'All streams without conditions', options, link: { conditions: shared } }], ...rows]);
    }

    /** Returns the name of the stream or the offline copy at a URL, or the URL. */
    #nameOf(url) {
        const id = /^\/offline\/([^/]+)\//.exec(url)?.[1];
        const asset = this.#store.assets.find((one) => one.id === id);
        return this.#store.streamForURL(url)?.name ?? (asset ? `${asset.title} (offline copy)` : url);
    }

    async #change({ id }, conditions) {
        try {
            await this.#conditions.change({ link: id, conditions });
            dismissErrors('conditions');
        } catch (error) {
            showError(`The network conditions could not be changed. ${errorMessage(error)}`, 'conditions');
            this.#conditions.load().catch(() => {});
        }
    }
}
