// Creates the components of the console and connects them.

import { Actions } from './actions.js';
import { Catalog } from './catalog.js';
import { Charts } from './charts.js';
import { DownloadMessages } from './download-messages.js';
import { restoreDownloadQuality } from './download-quality.js';
import { Downloads } from './downloads.js';
import { setText } from './element.js';
import { errorMessage } from './error-message.js';
import { handleKeyboardShortcuts } from './keyboard-shortcuts.js';
import { dismissErrors, showError } from './messages.js';
import { NetworkConditionsMenu } from './network-conditions.js';
import { Networks } from './networks.js';
import { showNowPlaying } from './now-playing.js';
import { handleOpenURL } from './open-url.js';
import { PlaybackEdits } from './playback-edits.js';
import { showPlaybackErrors } from './playback-error.js';
import { showPlaybackURL } from './playback-url-field.js';
import { Player } from './player.js';
import { followServerEvents } from './server-events.js';
import { ServerConditions } from './server-conditions.js';
import { SimulatedFaults } from './simulated-faults.js';
import { Storage } from './storage.js';
import { Store } from './store.js';
import { TrackMenus } from './track-menus.js';
import { showWaitingNote } from './waiting-note.js';

const video = document.getElementById('video');
const store = new Store();
const edits = new PlaybackEdits(store);
const serverConditions = new ServerConditions(() => charts.needsReports);
const networkConditions = new NetworkConditionsMenu(serverConditions);
const faults = new SimulatedFaults();
const player = new Player(video, edits, networkConditions, serverConditions);
const charts = new Charts(video, player, serverConditions);
const actions = new Actions(store, player, new DownloadMessages(store));
const catalog = new Catalog(store, player, actions);
const downloads = new Downloads(store, actions);
const storage = new Storage(store);

restoreDownloadQuality();
showNowPlaying(player, edits, video);
showPlaybackErrors(player, edits, store);
showPlaybackURL(player);
new TrackMenus(video, player, edits);
new Networks(store, serverConditions, player);
showWaitingNote(video, player, networkConditions);
handleKeyboardShortcuts(player, document.getElementById('player'));
handleOpenURL(store, player, actions);

// Several downloads can change at once; a single update of the page is enough for all of them.
let isUpdateScheduled = false;
function update() {
    isUpdateScheduled = false;
    catalog.update();
    downloads.update();
    storage.update();
    edits.updateStreams();
}
function scheduleUpdate() {
    if (isUpdateScheduled) return;
    isUpdateScheduled = true;
    setTimeout(update);
}

store.addEventListener('change', scheduleUpdate);
player.addEventListener('select', scheduleUpdate);
store.addEventListener('unknown-asset', load);
// A stalled download sends no events, but its figures have to change.
setInterval(() => store.downloadSpeed.isActive && scheduleUpdate(), 1000);

async function load() {
    try {
        await Promise.all([store.load(), serverConditions.load(), faults.load(), edits.load()]);
        dismissErrors('load');
        update();
        document.documentElement.dataset.ready = 'true';
    } catch (error) {
        showError(`The catalog and the downloads could not be loaded. ${errorMessage(error)}`, 'load');
    }
}

const connection = document.getElementById('connection');
const connectionTexts = { connected: 'Connected', reconnecting: 'Reconnecting…' };

load();
followServerEvents({
    onOpen: load,
    onAsset: (asset) => store.updateAsset(asset),
    onRemoved: (id) => store.removeAsset(id),
    onEvicted: (entry) => storage.showEviction(entry),
    onStateChange(state) {
        connection.dataset.state = state;
        setText(connection, connectionTexts[state]);
    },
});
