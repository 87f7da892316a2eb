// The table of downloads: all assets in the library, including those that are not in the catalog.

import { AssetRow } from './asset-row.js';
import { setHidden, setTextOrHide } from './element.js';
import { KeyedList } from './keyed-list.js';

export class Downloads {
    #store;
    #list;
    #table = document.getElementById('assets');
    #total = document.getElementById('downloads-total');
    #placeholder = document.getElementById('downloads-placeholder');

    constructor(store, actions) {
        this.#store = store;
        this.#list = new KeyedList(document.getElementById('asset-rows'), (id) => new AssetRow(id, actions),
            document.getElementById('downloads-title'));
    }

    update() {
        const { assets, downloadSpeed } = this.#store;
        this.#list.update(assets.map((asset) => [asset.id, { asset, downloadSpeed, size: this.#store.size(asset) }]));
        setHidden(this.#table, assets.length === 0);
        const count = `${assets.length} ${assets.length === 1 ? 'download' : 'downloads'}`;
        // Their disk space, of which they can share parts, is that of the section “Storage”.
        setTextOrHide(this.#total, assets.length > 0 ? count : '');
        setTextOrHide(this.#placeholder, assets.length > 0 ? ''
            : 'No downloads yet. Downloaded streams play offline, without a connection to their origin.');
    }
}
