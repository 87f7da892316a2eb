// The catalog: a grid of stream cards in the order of the server, with a search field.

import { setHidden, setTextOrHide } from './element.js';
import { KeyedList } from './keyed-list.js';
import { StreamCard } from './stream-card.js';

// The minimum number of streams for which the search field is shown.
const minimumStreamsForSearch = 9;

export class Catalog {
    #store;
    #player;
    #list;
    #placeholder = document.getElementById('catalog-placeholder');
    #search = document.getElementById('search');
    #searchField = document.getElementById('search-field');

    constructor(store, player, actions) {
        this.#store = store;
        this.#player = player;
        this.#list = new KeyedList(document.getElementById('cards'), (id) => new StreamCard(id, actions),
            document.getElementById('catalog-title'));
        this.#search.addEventListener('input', () => this.update());
    }

    update() {
        const { streams, downloadSpeed } = this.#store;
        const words = this.#search.value.toLowerCase().split(/\s+/).filter(Boolean);
        const matches = streams.filter(({ name, detail = '', kind }) => {
            const text = `${name} ${detail} ${kind}`.toLowerCase();
            return words.every((word) => text.includes(word));
        });
        this.#list.update(matches.map((stream) => {
            const asset = this.#store.assetForStream(stream);
            const size = asset && this.#store.size(asset);
            return [stream.id, { stream, asset, size, downloadSpeed, isPlaying: this.#player.isPlaying(stream) }];
        }));
        setHidden(this.#searchField, streams.length < minimumStreamsForSearch);
        setTextOrHide(this.#placeholder, matches.length > 0 ? '' : streams.length > 0
            ? 'No stream in the catalog matches.'
            : 'The catalog is empty. Enter the URL of a stream above, or stop the server and start it again with --catalog FILE.');
    }
}
