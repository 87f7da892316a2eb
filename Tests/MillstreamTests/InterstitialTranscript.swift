import HLSPlaylist
import MediaTiming
import ResourceAddressing

@testable import Millstream
@testable import StreamingEngine

/// A transcript of an interstitial state machine between two modeled players, with events as input and effects as
/// output.
///
/// The players perform effects immediately. Items play without interruption once the queue has a rate, unless the test
/// changes their state.
struct InterstitialTranscript {
    private(set) var machine = InterstitialStateMachine(preloadFraction: 0.5)
    /// The observed state of the players, which tests change.
    var players = InterstitialObservation()
    /// The current time of the modeled clock.
    private(set) var now = Duration.zero
    /// A Boolean value that indicates whether the interstitial player accepts rates.
    var acceptsRates = true
    /// The numbers of the pending seek requests.
    private(set) var seeks: Set<Int> = []
    /// The numbers of the pending asset list requests.
    private(set) var loads: Set<Int> = []
    /// A Boolean value that indicates whether a viewer can neither seek forward nor play faster.
    private(set) var forbidsAdvancing = false

    /// Creates a transcript of a player whose item of 60 s plays from its start.
    init(rate: Double = 1) {
        players.primary.item = 1
        players.primary.rate = rate
        players.primary.playback.status = .readyToPlay
        players.primary.playback.playbackType = .vod
        players.primary.playback.duration = MediaTime(seconds: 60)
        movePrimary(to: 0)
    }

    /// Advances the clock to the given time, in seconds.
    mutating func wait(until seconds: Double) { now = .milliseconds(Int((seconds * 1000).rounded())) }

    /// The next deadline of the state machine, in seconds.
    var deadline: Double? { machine.deadline.map { $0 / .seconds(1) } }

    /// Handles an event and the interstitial player's decisions on rate changes, and returns descriptions of the effects.
    mutating func handle(_ event: InterstitialStateMachine.Event) -> [String] {
        switch event {
        case .listLoaded(let request, _): loads.remove(request)
        case .seekEnded(let request, _): seeks.remove(request)
        case .observed, .scheduled, .skip, .cancel, .itemRejected, .rateDecided: break
        }
        let effects = machine.handle(event, at: now)
        for effect in effects { perform(effect) }
        var lines = effects.flatMap(Self.describe)
        for effect in effects {
            if case .setRate = effect { lines += handle(.rateDecided(isAccepted: acceptsRates)) }
        }
        return lines
    }

    /// Changes the players, handles an observation of them, and returns descriptions of the effects.
    mutating func observe(_ change: (inout Self) -> Void = { _ in }) -> [String] {
        change(&self)
        return handle(.observed(players))
    }

    /// Advances the clock to the given time, in seconds, and then changes and observes the players.
    mutating func observe(at seconds: Double, _ change: (inout Self) -> Void = { _ in }) -> [String] {
        wait(until: seconds)
        return observe(change)
    }
}

// MARK: Players

extension InterstitialTranscript {
    /// The position of the primary item, in seconds.
    var position: Double { players.primary.position(at: now).seconds }

    /// Moves the playhead of the primary item to the given position, in seconds.
    mutating func movePrimary(to seconds: Double) {
        let rate = players.primary.isSuspended ? 0 : players.primary.rate
        setTimebase(Timebase(mediaTime: Self.time(seconds), time: now, rate: rate))
    }

    /// Changes the rate of the primary player.
    mutating func setPrimaryRate(_ rate: Double) {
        players.primary.rate = rate
        movePrimary(to: position)
    }

    /// Replaces the current item of the primary player.
    mutating func replacePrimaryItem(_ number: Int?) {
        players.primary.item = number
        (players.primary.isSuspended, players.primary.suspendsAtEnd) = (false, false)
        movePrimary(to: 0)
    }

    private mutating func setTimebase(_ timebase: Timebase) { players.primary.playback.timebase = timebase }

    /// Ends the current item of the queue after the given duration of media, in seconds.
    mutating func endItem(after seconds: Double) {
        guard let current = players.queue.current else { return }
        players.queue.items[current]?.duration = Self.time(seconds)
        players.queue.items[current]?.hasPlayedToEnd = true
        players.queue.items[current]?.timebase = Timebase(mediaTime: Self.time(seconds))
        advance()
    }

    /// Fails the current item of the queue and advances to the next one, if any.
    mutating func failItem() {
        guard let current = players.queue.current else { return }
        players.queue.items[current]?.status = .failed
        players.queue.items[current]?.error = StreamingError(.damaged, "no media")
        players.queue.items[current]?.timebase = Timebase()
        if players.queue.items.keys.contains(where: { $0 > current }) { advance() }
    }

    /// Stops the playhead of the queue's current item, as if the item waited for media.
    mutating func stallItem() { moveItem(atRate: 0) }

    /// Moves the playhead of the queue's current item at the given rate.
    mutating func moveItem(atRate rate: Double) {
        guard let current = players.queue.current, let item = players.queue.items[current] else { return }
        players.queue.items[current]?.timebase = item.timebase.continued(at: now, rate: rate)
    }

    private mutating func advance() {
        guard let current = players.queue.current else { return }
        players.queue.current = players.queue.items.keys.filter { $0 > current }.min()
        moveItem(atRate: players.queue.rate)
    }

    private mutating func perform(_ effect: InterstitialStateMachine.Effect) {
        switch effect {
        case .setSuspended(let isSuspended):
            let position = position
            players.primary.isSuspended = isSuspended
            movePrimary(to: position)
        case .setSuspendsAtEnd(let suspends): players.primary.suspendsAtEnd = suspends
        case .enqueue(let items):
            for item in items {
                players.queue.items[item.number] = InterstitialObservation.Item()
                players.queue.items[item.number]?.status = .readyToPlay
            }
            players.queue.current = players.queue.current ?? items.first?.number
            moveItem(atRate: players.queue.rate)
        case .removeItem(let number):
            if players.queue.current == number { advance() }
        case .clearQueue: (players.queue.current, players.queue.items) = (nil, [:])
        case .setRate(let rate):
            guard acceptsRates else { return }
            players.queue.rate = rate
            moveItem(atRate: rate)
        case .setVolume(let volume, let isMuted):
            (players.queue.volume, players.queue.isMuted) = (volume, isMuted)
        case .setForbidsAdvancing(let forbids): forbidsAdvancing = forbids
        case .seek(let request, _): seeks.insert(request)
        case .loadList(let request, _, _): loads.insert(request)
        case .cancelRequest(let request):
            seeks.remove(request)
            loads.remove(request)
        case .publish: break
        }
    }

    static func time(_ seconds: Double) -> MediaTime { MediaTime(approximating: seconds) ?? .zero }

    /// Schedules the interstitials of the given date ranges, each given by its attributes, in a playlist with segments
    /// of 6 s.
    ///
    /// The playlist begins on January 1, 2026 at 00:00:00 UTC.
    mutating func setStream(_ ranges: [String], revision: Int = 1) throws {
        let timeline = try Self.timeline(ranges)
        players.primary.playback.interstitialRanges = TimedDateRange.ranges(of: timeline)
        players.primary.playback.segmentBorders = SegmentBoundaries([timeline], revision: revision)
    }

    /// Returns the timeline of a playlist with the given date ranges and ten segments of a duration, in seconds.
    static func timeline(_ ranges: [String] = [], segmentDuration: Int = 6) throws -> PresentationTimeline {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:\(segmentDuration)\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n"
            + ranges.map { "#EXT-X-DATERANGE:\($0)\n" }.joined()
            + (0..<10).map { "#EXTINF:\(segmentDuration),\n\($0).ts\n" }.joined() + "#EXT-X-ENDLIST\n"
        let context = PlaylistContext(address: ResourceAddress("https://example.com/main.m3u8"))
        return PresentationTimeline(try MediaPlaylist(parsing: Array(text.utf8), context: context))
    }

    /// Returns the attributes of an interstitial date range.
    static func range(_ id: String, at seconds: Int, _ attributes: String) -> String {
        "ID=\"\(id)\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"2026-01-01T00:00:"
            + "\(seconds < 10 ? "0" : "")\(seconds)Z\",\(attributes)"
    }
}

// MARK: Descriptions

extension InterstitialTranscript {
    static func describe(_ effect: InterstitialStateMachine.Effect) -> [String] {
        switch effect {
        case .publish(_, let notifications): notifications.map(describe)
        case .setSuspended(let isSuspended): [isSuspended ? "suspend" : "resume"]
        case .setSuspendsAtEnd(let suspends): [suspends ? "suspend at end" : "do not suspend at end"]
        case .seek(let request, let time): ["seek #\(request) to \(time.seconds)"]
        case .setForbidsAdvancing(let forbids): [forbids ? "forbid advancing" : "allow advancing"]
        case .enqueue(let items): ["enqueue " + items.map(describe).joined(separator: ", ")]
        case .removeItem(let number): ["remove \(number)"]
        case .clearQueue: ["clear queue"]
        case .setRate(let rate): ["rate \(rate)"]
        case .setVolume(let volume, let isMuted): ["volume \(volume)" + (isMuted ? " muted" : "")]
        case .loadList(let request, let address, let offset):
            ["load #\(request) \(address.lastPathComponent)" + (offset.map { " from \($0.seconds)" } ?? "")]
        case .cancelRequest(let request): ["cancel #\(request)"]
        }
    }

    private static func describe(_ item: InterstitialItem) -> String {
        let address: ResourceAddress =
            switch item.source {
            case .address(let address): address
            case .asset(let asset): asset.address
            }
        return "\(item.number) \(address.lastPathComponent)" + (item.forbidsAdvancing ? " (no advancing)" : "")
    }

    static func describe(_ notification: InterstitialController.Notification) -> String {
        switch notification {
        case .eventsDidChange: "events"
        case .currentEventDidChange(let event): "current \(event?.id ?? "-")"
        case .assetListStatusDidChange(let event, .available): "list of \(event.id) available"
        case .assetListStatusDidChange(let event, .cleared): "list of \(event.id) cleared"
        case .assetListStatusDidChange(let event, .unavailable): "list of \(event.id) unavailable"
        case .currentEventSkippabilityDidChange(_, let skippability): skippability.rawValue
        case .currentEventWasSkipped(let event): "skipped \(event.id)"
        case .eventWasUnscheduled(let event, let error): "unscheduled \(event.id): \(error.message)"
        case .eventDidFinish(let event, let playoutTime, let isWhole):
            "\(isWhole ? "finished" : "ended") \(event.id) after \(playoutTime.seconds)"
        case .dropped(let count): "dropped \(count)"
        }
    }
}

extension ResourceAddress {
    fileprivate var lastPathComponent: String { text.split(separator: "/").last.map { String($0) } ?? text }
}
