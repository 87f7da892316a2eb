import MediaTiming
import StreamingEngine

// The decisions while the primary item plays: whether a break is due, and which interstitial is prepared for the next one.
extension InterstitialStateMachine {
    /// Follows the playhead of the item.
    mutating func follow(_ watch: inout InterstitialWatch) {
        let playback = players.observation.primary.playback
        guard playback.status == .readyToPlay else { return }
        let changes =
            playback.isSeeking ? playhead.stop(at: players.now) : playhead.follow(playback.timebase, at: players.now)
        for change in changes {
            switch change {
            case .began(let position):
                watch.due = schedule.begin(at: position, isLive: playback.playbackType == .live)
            case .rewound(let position): schedule.rewind(to: position)
            case .jumped(let old, let new):
                watch.due = schedule.jump(from: old, to: new)
                discardPrepared(&watch)
            }
        }
    }

    /// Returns the break that begins now.
    ///
    /// Suspends the item while a break waits for playback to begin.
    mutating func takeDueBreak(_ watch: inout InterstitialWatch) -> InterstitialSchedule.Break? {
        let primary = players.observation.primary
        let playback = primary.playback
        guard playback.status != .failed else {
            players.setSuspended(false)
            return nil
        }
        if !playback.hasPlayedToEnd { players.setSuspendsAtEnd(schedule.awaitsEnd(at: playback.duration)) }
        // Reverse playback is not interrupted.
        if primary.rate < 0 { watch.due = nil }
        // No media of the item is shown before an interstitial that precedes it.
        let awaitsBreak = primary.rate >= 0 && (watch.due != nil || schedule.awaitsStart)
        if !playback.hasPlayedToEnd { players.setSuspended(awaitsBreak) }
        guard primary.rate > 0, playback.status == .readyToPlay, !playback.isSeeking,
            let position = playhead.position(at: players.now)
        else { return nil }
        if let first = schedule.join(at: position) { return first }
        if let due = watch.due.take() { return due }
        guard playback.hasPlayedToEnd else { return schedule.move(to: position) }
        if let last = schedule.end(at: position) { return last }
        players.setSuspended(false)
        return nil
    }

    /// Prepares the next interstitial when the item is buffered up to it, or is close to it (RFC 8216bis §D.1).
    mutating func prepareNext(_ watch: inout InterstitialWatch) {
        let playback = players.observation.primary.playback
        guard let position = playhead.position(at: players.now), !playback.isSeeking else { return }
        if playback.playbackType == .live {
            for address in lists.duePreloads(at: position) { load(address, startOffset: nil) }
        }
        guard let next = eventToPrepare(watch, at: position), watch.prepared?.event != next else { return }
        discardPrepared(&watch)
        if case .list(let address) = next.content, lists[address] == nil {
            load(address, startOffset: watch.due?.startOffset)
        }
        guard let items = makeItems(of: next) else { return }
        players.enqueue(items)
        watch.prepared = PreparedInterstitial(event: next, items: items)
    }

    private func eventToPrepare(_ watch: InterstitialWatch, at position: MediaTime) -> InterstitialEvent? {
        if let first = watch.due?.events.first { return first }
        let playback = players.observation.primary.playback
        guard let next = schedule.next else {
            let endsWithEvent = playback.isLoadedToEnd && schedule.awaitsEnd(at: playback.duration)
            return endsWithEvent ? schedule.leaving.first : nil
        }
        let loaded = playback.loadedTimeRanges.range(containing: position)?.end ?? position
        let isLoaded = loaded + .interstitialTolerance >= next.start
        return isLoaded || position + .interstitialLeadTime >= next.start ? next.event : nil
    }

    /// Removes the items of the prepared interstitial from the queue.
    mutating func discardPrepared(_ watch: inout InterstitialWatch) {
        guard let prepared = watch.prepared else { return }
        watch.prepared = nil
        if !prepared.items.isEmpty { players.clearQueue() }
    }
}
