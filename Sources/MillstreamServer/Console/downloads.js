// The table of downloads: all assets in the library, including those that are not in the catalog.

import { AssetRow } from './asset-row.js';
import { setHidden, setTextOrHide } from './element.js';
import { formatSize } from './format.js';
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
        const bytes = assets.reduce((sum, asset) => sum + (asset.bytes ?? 0), 0);
        this.#list.update(assets.map((asset) => [asset.id, { asset, downloadSpeed }]));
        setHidden(this.#table, assets.length === 0);
        const count = `${assets.length} ${assets.length === 1 ? 'download' : 'downloads'}`;
        setTextOrHide(this.#total, assets.length > 0 ? `${count} · ${formatSize(bytes)} in total` : '');
        setTextOrHide(this.#placeholder, assets.length > 0 ? ''
            : 'No downloads yet. Downloaded streams play offline, without a connection to their origin.');
    }
}
