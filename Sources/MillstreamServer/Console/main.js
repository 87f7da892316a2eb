// Puts the parts of the console together.

import { Actions } from './actions.js';
import { Catalogue } from './catalogue.js';
import { DownloadNews } from './download-news.js';
import { rememberDownloadQuality } from './download-quality.js';
import { setText } from './element.js';
import { followEvents } from './events.js';
import { Inventory } from './inventory.js';
import { Library } from './library.js';
import { NetworkMenu } from './network-menu.js';
import { showNowPlaying } from './now-playing.js';
import { followOpenURL } from './open-url.js';
import { PlaybackEdits } from './playback-edits.js';
import { showPlaybackProblems } from './playback-problem.js';
import { Player } from './player.js';
import { followKeys } from './player-keys.js';
import { sentenceOf } from './sentence.js';
import { complain } from './status.js';
import { offerAddress } from './take-away.js';
import { TrackMenus } from './track-menus.js';

const video = document.getElementById('video');
const inventory = new Inventory();
const edits = new PlaybackEdits(inventory);
const network = new NetworkMenu();
const player = new Player(video, edits, network);
const actions = new Actions(inventory, player, new DownloadNews(inventory));
const catalogue = new Catalogue(inventory, player, actions);
const library = new Library(inventory, actions);

rememberDownloadQuality();
showNowPlaying(player, edits, video);
showPlaybackProblems(player, edits, inventory);
offerAddress(player);
new TrackMenus(video, player, edits);
followKeys(player, document.getElementById('player'));
followOpenURL(inventory, player, actions);

// Several downloads change at once; the page is brought up to date once for all of them.
let isShowDue = false;
function show() {
    isShowDue = false;
    catalogue.show();
    library.show();
    edits.showAppendChoices();
}
function showSoon() {
    if (isShowDue) return;
    isShowDue = true;
    setTimeout(show);
}

inventory.addEventListener('change', showSoon);
player.addEventListener('select', showSoon);
inventory.addEventListener('stranger', read);
// While a download stalls no event comes, and its figures have to say so all the same.
setInterval(() => inventory.pace.isWatching && showSoon(), 1000);

let withdrawComplaint = () => {};

async function read() {
    try {
        await Promise.all([inventory.read(), network.read()]);
        withdrawComplaint();
        show();
        document.documentElement.dataset.ready = 'true';
    } catch (error) {
        withdrawComplaint = complain(`The catalogue and the library could not be read. ${sentenceOf(error)}`);
    }
}

const connection = document.getElementById('connection');
const connectionTexts = { connected: 'Live updates connected', reconnecting: 'Reconnecting…' };

read();
followEvents({
    opened: read,
    asset: (asset) => inventory.applyAsset(asset),
    removed: (id) => inventory.applyRemoval(id),
    changed(state) {
        connection.dataset.state = state;
        setText(connection, connectionTexts[state]);
    },
});
