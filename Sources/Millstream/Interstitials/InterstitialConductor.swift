import HLSPlaylist
import MediaTiming
import PlaybackReporting
import ResourceAddressing
import StreamingEngine

/// Watches a player, and plays interstitials where they are due.
///
/// It does what ``InterstitialSchedule`` decides. The player does not belong to it: when that is gone, it ends.
struct InterstitialConductor: Sendable {
    weak let primary: Player?
    private let primaryHub: Hub<PlayerCore, PlayerEvent>
    let time: any TimeSource
    let player: QueuePlayer
    let hub: Hub<InterstitialController.Core, InterstitialController.Notification>

    var item: PlayerItem?
    var schedule = InterstitialSchedule()
    private var ranges: [TimedDateRange] = []
    private var ownEvents: [InterstitialEvent]?
    private var handlesStream = true
    var motion: Motion?
    /// What is due as soon as it is played on.
    private var pending: InterstitialSchedule.Break?
    /// Where the item stands while something else is played.
    var heldPosition: MediaTime?
    /// Whether it does already.
    var hasStopped = false
    /// Where the play head will be next, because it was sent there by this.
    var arrival: MediaTime?
    /// The event whose items wait in the queue.
    var prepared: (event: InterstitialEvent, items: [PlayerItem])?
    /// Until when is waited for something to be played of a break.
    var patienceEnd = Duration.zero
    /// Which segments the places of events were reckoned with.
    private var revision = 0
    var loads: [String: Task<Void, Never>] = [:]
    /// What is to be loaded ahead.
    private var preloads: [Preload] = []
    /// When that is, by the name of what asks for it.
    private var preloadTimes: [String: MediaTime] = [:]

    private struct Preload: Sendable {
        let id: String
        let address: ResourceAddress
        let start: MediaTime
        let end: MediaTime
        /// Where what it is for is; `nil` while that is not known.
        let target: MediaTime?
    }

    /// What is shorter is no way to go.
    static let closeness = MediaTime(value: 50, timescale: 1000)
    /// So many lists are kept that nothing has asked for yet.
    private static let mostPreloads = 8
    /// So long before its place an event is loaded at the latest.
    private static let lead = MediaTime(seconds: 5)

    init(
        primary: Player,
        player: QueuePlayer,
        hub: Hub<InterstitialController.Core, InterstitialController.Notification>
    ) {
        self.primary = primary
        primaryHub = primary.hub
        time = primary.environment.time
        self.player = player
        self.hub = hub
    }

    /// Does so until the player is gone.
    mutating func run() async {
        while !Task.isCancelled {
            let seen = seen
            guard let state = primaryState else { break }
            follow(state)
            if let due = dueBreak(state) {
                await play(due)
                continue
            }
            prepareNext(state)
            await wait(after: seen, until: nextMoment(state))
        }
        for load in loads.values { load.cancel() }
        player.removeAllItems()
    }

    // MARK: Watching

    struct Seen: Sendable {
        let primary: UInt64
        let player: UInt64
        let own: UInt64
    }

    var seen: Seen { Seen(primary: primaryHub.version, player: player.hub.version, own: hub.version) }

    /// What the player is; `nil` when it is gone.
    var primaryState: PlayerState? {
        let reading = primaryHub.read()
        return reading.isFinished ? nil : reading.state.lineup.state
    }

    func wait(after seen: Seen, until deadline: Duration?) async {
        let (primaryHub, playerHub, hub, time) = (primaryHub, player.hub, hub, time)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await primaryHub.wait(after: seen.primary) }
            group.addTask { await playerHub.wait(after: seen.player) }
            group.addTask { await hub.wait(after: seen.own) }
            if let deadline {
                // No clock sleeps for ever.
                let delay = min(max(deadline - time.now, .milliseconds(1)), .seconds(3600))
                group.addTask { try? await time.sleep(for: delay) }
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// Takes over what the player is now.
    private mutating func follow(_ state: PlayerState) {
        if state.currentItem != item { begin(state.currentItem) }
        guard item != nil else { return }
        collectEvents(state)
        guard state.playback.status == .readyToPlay else { return }
        guard !state.playback.isSeeking else { return stop() }
        let old = motion
        let new = state.motion
        motion = new
        // Where it set out a moment ago counts, not what was played since.
        let isFresh = time.now - new.timebase.time <= .seconds(1)
        let position = isFresh ? new.timebase.mediaTime : new.timebase.mediaTime(at: time.now)
        guard let old else {
            pending = schedule.begin(at: position, isLive: state.playback.playbackType == .live)
            return
        }
        if old.timebase.rate < 0 { schedule.rewind(to: position) }
        guard new.change(from: old, at: time.now) == .jumped else { return }
        if let arrival = arrival.take(), position.isNear(arrival, within: MediaTime(seconds: 1)) { return }
        pending = schedule.jump(from: old.timebase.mediaTime(at: min(new.timebase.time, time.now)), to: position)
        unprepare()
    }

    /// While it is sought, the play head goes nowhere.
    private mutating func stop() {
        guard let old = motion, old.timebase.rate != 0 else { return }
        motion = Motion(item: old.item, timebase: old.timebase.continued(at: time.now, rate: 0))
        if old.timebase.rate < 0 { schedule.rewind(to: old.timebase.mediaTime(at: time.now)) }
    }

    private mutating func begin(_ item: PlayerItem?) {
        self.item = item
        schedule = InterstitialSchedule()
        (ranges, ownEvents, preloads, preloadTimes) = ([], nil, [], [:])
        (motion, pending, arrival) = (nil, nil, nil)
        unprepare()
        for load in loads.values { load.cancel() }
        loads = [:]
        hub.update { core, events in
            core.lists = [:]
            core.state.entries = []
            guard !core.state.events.isEmpty else { return }
            core.state.events = []
            events.append(.eventsDidChange)
        }
    }

    private mutating func collectEvents(_ state: PlayerState) {
        let (own, known) = (hub.state.ownEvents, hub.state.state)
        let handlesStream = item?.state.configuration.handlesInterstitials ?? true
        let ranges = state.playback.interstitialRanges
        let isSame = ranges == self.ranges && own == ownEvents && handlesStream == self.handlesStream
        let borders = state.playback.segmentBorders
        let events = isSame ? known.events : own ?? ranges.compactMap { InterstitialEvent($0) }
        // Segments say where dates lie, and borders.
        let needsSegments = events.contains { $0.alignsStartWithPrimarySegmentBoundary || $0.time == nil }
        guard !isSame || needsSegments && borders.revision != revision else { return }
        (self.ranges, ownEvents, self.handlesStream, revision) = (ranges, own, handlesStream, borders.revision)
        schedule.update(handlesStream || own != nil ? events : []) { event in
            guard let place = event.time ?? event.date.flatMap({ borders.time(of: $0) }) else { return nil }
            guard event.alignsStartWithPrimarySegmentBoundary else { return place }
            return borders.nearest(to: place, latest: false) ?? place
        }
        // What a stream has loaded ahead is for what it schedules itself.
        preloads = handlesStream && own == nil ? Self.preloads(ranges) : []
        forgetLoads()
        if let prepared, !events.contains(prepared.event) { unprepare() }
        let entries = schedule.entries
        guard known.events != events || known.entries != entries else { return }
        hub.update { core, told in
            core.state.entries = entries
            guard core.state.events != events else { return }
            core.state.events = events
            told.append(.eventsDidChange)
        }
    }

    func change(_ body: (inout Lineup) -> Void) {
        guard let primary, let item else { return }
        primary.change { lineup in
            if lineup.state.currentItem == item { body(&lineup) }
        }
    }

    // MARK: Deciding

    private mutating func dueBreak(_ state: PlayerState) -> InterstitialSchedule.Break? {
        guard item != nil else { return nil }
        guard state.playback.status != .failed else {
            if state.isHeld { change { $0.setHeld(false) } }
            return nil
        }
        // What is told to the player wakes this: it is told news only.
        let awaitsEnd = schedule.awaitsEnd(at: state.playback.duration)
        if awaitsEnd != primaryHub.state.lineup.holdsEnd, !state.playback.hasPlayedToEnd {
            change { $0.setHoldsEnd(awaitsEnd) }
        }
        // Backwards nothing is played in between.
        if state.rate < 0 { pending = nil }
        // Nothing of the item is shown before what comes first.
        let isAwaited = state.rate >= 0 && (pending != nil || schedule.awaitsStart)
        if isAwaited != state.isHeld, !state.playback.hasPlayedToEnd { change { $0.setHeld(isAwaited) } }
        guard state.rate > 0, state.playback.status == .readyToPlay, !state.playback.isSeeking, let motion else {
            return nil
        }
        let position = motion.timebase.mediaTime(at: time.now)
        if let first = schedule.join(at: position) { return first }
        if let pending = pending.take() { return pending }
        guard state.playback.hasPlayedToEnd else { return schedule.move(to: position) }
        if let last = schedule.end(at: position) { return last }
        if state.isHeld { change { $0.setHeld(false) } }
        return nil
    }

    private func nextMoment(_ state: PlayerState) -> Duration? {
        guard state.rate > 0, !state.playback.isSeeking, let motion, motion.timebase.rate > 0 else { return nil }
        let position = motion.timebase.mediaTime(at: time.now)
        var places = preloadTimes.values.filter { $0 > position }
        if let next = schedule.nextStart {
            places.append(next)
            if next - Self.lead > position { places.append(next - Self.lead) }
        }
        return places.min().flatMap { motion.time(reaching: $0) }
    }

    // MARK: Loading ahead

    /// Loads what comes next when the item is buffered up to it, or it is near (§D.1).
    private mutating func prepareNext(_ state: PlayerState) {
        guard let motion, let item, !state.playback.isSeeking else { return }
        preload(state)
        let position = motion.timebase.mediaTime(at: time.now)
        let next: InterstitialEvent
        if let pending = pending?.events.first {
            next = pending
        } else if let entry = schedule.next {
            let loaded = state.playback.loadedTimeRanges.range(containing: position)?.end ?? position
            guard loaded + Self.closeness >= entry.start || position + Self.lead >= entry.start else { return }
            next = entry.event
        } else {
            guard state.playback.isLoadedToEnd, schedule.awaitsEnd(at: state.playback.duration),
                let first = schedule.leaving.first
            else { return }
            next = first
        }
        guard prepared?.event != next else { return }
        unprepare()
        let loading = InterstitialLoading(primary: item.asset, sessionID: item.sessionID)
        guard let assets = try? assets(of: next, loading, startOffset: pending?.startOffset) else { return }
        prepared = (next, (try? queue(assets, besides: item)) ?? [])
    }

    mutating func unprepare() {
        guard prepared != nil else { return }
        prepared = nil
        player.removeAllItems()
    }

    /// Loads lists at a random moment of the time that the stream gives for it, so that not all viewers ask at once
    /// (appendix F).
    private mutating func preload(_ state: PlayerState) {
        guard state.playback.playbackType == .live, let motion, let item else { return }
        let position = motion.timebase.mediaTime(at: time.now)
        let loading = InterstitialLoading(primary: item.asset, sessionID: item.sessionID)
        for preload in preloads {
            // What is over is of no use, and what was played from it neither.
            guard preload.end + MediaTime(seconds: 1) > position, preload.target.map({ $0 > position }) ?? true else {
                continue
            }
            if preloadTimes[preload.id] == nil {
                let first = max(preload.start, position)
                // No later than it would be loaded anyway.
                let last = max(first, preload.target.map { min(preload.end, $0 - Self.lead) } ?? preload.end)
                let wait = MediaTime(approximating: (last - first).seconds * Double.random(in: 0...1)) ?? .zero
                preloadTimes[preload.id] = first + wait
            }
            guard let moment = preloadTimes[preload.id], moment <= position, loads.count < Self.mostPreloads else {
                continue
            }
            load(preload.address, loading, startOffset: nil)
        }
    }

    private static func preloads(_ ranges: [TimedDateRange]) -> [Preload] {
        let starts = Dictionary(ranges.map { ($0.id, $0.start) }) { first, _ in first }
        return ranges.compactMap { range in
            guard let instruction = range.range.preload, instruction.targetClass == Interstitial.classIdentifier,
                let start = range.start, let endDate = range.endDate
            else { return nil }
            return Preload(
                id: range.id,
                address: instruction.address,
                start: start,
                end: start + (endDate.sinceEpoch - range.startDate.sinceEpoch),
                target: starts[instruction.targetID] ?? nil
            )
        }
    }

    /// Lists that nothing refers to any more are of no use.
    private mutating func forgetLoads() {
        var wanted = Set(preloads.map(\.address.text))
        for event in ownEvents ?? ranges.compactMap({ InterstitialEvent($0) }) {
            if case .list(let address) = event.content { wanted.insert(address.text) }
        }
        for key in loads.keys where !wanted.contains(key) { loads.removeValue(forKey: key)?.cancel() }
        let ids = Set(preloads.map(\.id))
        preloadTimes = preloadTimes.filter { ids.contains($0.key) }
        guard hub.state.lists.keys.contains(where: { !wanted.contains($0) }) else { return }
        hub.update { core, _ in core.lists = core.lists.filter { wanted.contains($0.key) } }
    }

    /// What an event consists of; `nil` while its list is on its way.
    ///
    /// - Throws: Where it cannot be had.
    mutating func assets(
        of event: InterstitialEvent,
        _ loading: InterstitialLoading,
        startOffset: MediaTime?
    ) throws(PlayerError) -> [Asset]? {
        switch event.content {
        case .assets(let assets): return assets
        case .address(let address): return [try loading.asset(at: address)]
        case .list(let address):
            guard let result = hub.state.lists[address.text] else {
                load(address, loading, startOffset: startOffset)
                return nil
            }
            let list = try result.get()
            return list.entries.compactMap { try? loading.asset(at: $0.address) }
        }
    }

    private mutating func load(_ address: ResourceAddress, _ loading: InterstitialLoading, startOffset: MediaTime?) {
        let key = address.text
        guard hub.state.lists[key] == nil, loads[key] == nil else { return }
        loads[key] = launch(on: time) { [hub] in
            let result: Result<InterstitialAssetList, PlayerError>
            do throws(PlayerError) {
                result = .success(try await loading.list(at: address, startOffset: startOffset))
            } catch {
                result = .failure(error)
            }
            guard !Task.isCancelled else { return }
            hub.update { core, told in
                core.lists[key] = result
                guard let event = core.state.events.first(where: { $0.content == .list(address) }) else { return }
                switch result {
                case .success: told.append(.assetListStatusDidChange(event, .available))
                case .failure(let error): told.append(.assetListStatusDidChange(event, .unavailable(error)))
                }
            }
        }
    }
}

extension MediaTime {
    /// Whether it differs by no more than so much.
    func isNear(_ other: MediaTime, within tolerance: MediaTime) -> Bool {
        let distance = self - other
        return distance <= tolerance && distance >= .zero - tolerance
    }
}
