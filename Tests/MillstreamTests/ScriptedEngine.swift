import HLSPlaylist
import MediaTiming
import PlaybackReporting
import StreamingEngine
import Synchronization

@testable import Millstream

/// The scripted behavior of an item during playback.
struct Script: Sendable {
    /// The time until the item is ready to play.
    var readyAfter = Duration.seconds(1)
    /// The duration of the item, or `nil` for a live stream.
    var duration: MediaTime? = MediaTime(seconds: 10)
    /// The media that is loaded initially, and the time from readiness until all media is loaded.
    var initiallyLoaded = MediaTime(seconds: 4)
    var loadedAfter = Duration.seconds(2)
    /// The time that a seek takes.
    var seekDuration = Duration.milliseconds(100)
    /// The error with which the item fails, or `nil` if it plays.
    var failure: StreamingError?
    var presentation: Presentation?
}

/// An engine that plays nothing, in simulated time, and records its commands.
actor ScriptedEngine: ItemEngine {
    nonisolated let request: PlaybackEngineRequest
    private let script: Script
    private let time: any TimeSource
    private let written = Mutex<[String]>([])
    private let wakes = Hub<Int, Never>(0)
    private var machine = PlaybackSnapshot()
    private var seekNumber = 0
    private nonisolated let ended = Mutex(false)
    private nonisolated let applied: Mutex<StreamingOptions>

    init(_ request: PlaybackEngineRequest, _ script: Script) {
        self.request = request
        self.script = script
        time = request.time
        applied = Mutex(request.options)
        machine.timebase = Timebase(mediaTime: request.options.startTime ?? .zero, time: request.time.now)
    }

    /// The recorded commands, each with its time in whole seconds.
    nonisolated var log: [String] { written.withLock { $0 } }
    /// The initial options with all changes since.
    nonisolated var options: StreamingOptions { applied.withLock { $0 } }
    /// A Boolean value that indicates whether the engine has run to its end.
    nonisolated var hasEnded: Bool { ended.withLock { $0 } }

    private func write(_ text: String) { written.withLock { $0.append("\(time.now.components.seconds): \(text)") } }

    /// Reports the given event.
    func emit(_ kind: PlaybackEvent.Kind) { report(kind) }
    /// Changes the snapshot and publishes it.
    func updateSnapshot(_ change: @Sendable (inout PlaybackSnapshot) -> Void) {
        change(&machine)
        publish()
    }

    func setRate(_ rate: Double, mediaTime target: MediaTime?, atHostTime moment: Duration) async -> Bool {
        write("setRate \(rate) from \(target.map { "\($0.seconds)" } ?? "here") at \(moment.components.seconds)")
        setRate(rate, reason: .setRateCalled, atOnce: true)
        return true
    }

    func run() async {
        publish()
        if (try? await time.sleep(for: script.readyAfter)) != nil { await play() }
        move(at: 0)
        report(.ended)
        ended.withLock { $0 = true }
    }

    private func play() async {
        if let failure = script.failure {
            machine.status = .failed
            machine.error = failure
            machine.desiredRate = 0
            report(.statusChanged(.failed))
            publish()
            return
        }
        machine.status = .readyToPlay
        machine.duration = script.duration
        machine.playbackType = script.duration == nil ? .live : .vod
        machine.presentation = script.presentation
        machine.isPlaybackLikelyToKeepUp = true
        machine.isPlaybackBufferEmpty = false
        machine.loadedTimeRanges.insert(MediaTimeRange(start: .zero, end: script.initiallyLoaded))
        machine.seekableTimeRange = script.duration.map { MediaTimeRange(start: .zero, end: $0) }
        report(.statusChanged(.readyToPlay))
        move(at: machine.desiredRate)
        publish()
        let loaded = time.now + script.loadedAfter
        while !Task.isCancelled {
            let seen = wakes.version
            let now = time.now
            if now >= loaded, let duration = script.duration, machine.loadedTimeRanges.totalDuration < duration {
                machine.loadedTimeRanges.insert(MediaTimeRange(start: .zero, end: duration))
                publish()
            }
            let end = script.duration.flatMap { machine.timebase.rate > 0 ? machine.timebase.time(reaching: $0) : nil }
            if let end, end <= now { reachEnd() }
            let next = [end, now < loaded ? loaded : nil].compactMap { $0 }.filter { $0 > now }.min()
            await wakes.wait(after: seen, until: next, time)
        }
    }

    private func reachEnd() {
        if request.options.pausesAtEnd { machine.desiredRate = 0 }
        machine.hasPlayedToEnd = true
        move(at: 0)
        machine.timebase = Timebase(mediaTime: script.duration ?? .zero, time: time.now)
        report(.playedToEnd)
        publish()
    }

    private func move(at rate: Double) {
        machine.timeControl =
            rate != 0 ? .playing : machine.desiredRate != 0 ? .waiting(.evaluatingBufferingRate) : .paused
        let old = machine.timebase.rate
        guard rate != old else { return }
        machine.timebase = machine.timebase.continued(at: time.now, rate: rate)
        report(.rateChanged(RateChange(rate: rate, previousRate: old, reason: .setRateCalled)))
    }

    func setRate(_ rate: Double, reason: RateChange.Reason, atOnce: Bool) {
        write("rate \(rate)\(atOnce ? " at once" : "")\(reason == .setRateCalled ? "" : " \(reason)")")
        if !machine.hasPlayedToEnd, machine.status != .failed {
            machine.desiredRate = rate
            move(at: machine.status == .readyToPlay && !machine.isSeeking ? rate : 0)
        }
        // Published after the call returns, as by a real engine.
        Task(executorPreference: time.taskExecutor) { await self.publish() }
        wakes.update { count, _ in count += 1 }
    }

    func seek(to target: SeekTarget, tolerance: SeekTolerance) async -> SeekResult {
        guard case .time(let goal) = target else { return SeekResult(isFinished: false, position: .zero) }
        write("seek \(goal)\(tolerance == .exact ? " exactly" : "")")
        seekNumber += 1
        let number = seekNumber
        let rate = machine.timebase.rate != 0 ? machine.timebase.rate : machine.desiredRate
        machine.isSeeking = true
        machine.hasPlayedToEnd = false
        machine.timebase = machine.timebase.continued(at: time.now, rate: 0)
        try? await time.sleep(for: script.seekDuration)
        let position = machine.timebase.mediaTime(at: time.now)
        guard number == seekNumber, !Task.isCancelled else {
            return SeekResult(isFinished: false, position: position)
        }
        machine.isSeeking = false
        machine.timebase = Timebase(
            mediaTime: goal,
            time: time.now,
            rate: machine.desiredRate != 0 ? max(rate, machine.desiredRate) : 0
        )
        report(.timeJumped(from: position, to: goal))
        publish()
        wakes.update { count, _ in count += 1 }
        return SeekResult(isFinished: true, position: goal)
    }

    func step(by count: Int) -> Bool {
        write("step \(count)")
        return true
    }

    func setEnabled(_ type: MediaType, _ isEnabled: Bool) { write("\(type) \(isEnabled ? "on" : "off")") }

    func cancelPendingSeeks() {
        write("cancel seeks")
        seekNumber += 1
    }

    func select(_ option: MediaSelectionOption?, for type: Rendition.MediaType) {
        write("select \(option?.name ?? "nothing") \(type.rawValue)")
        guard machine.presentation != nil else { return }
        machine.selection[type] = option
        report(.selectionChanged(SelectionChange(mediaType: .audio, option: option?.name, isExplicit: true)))
        publish()
    }

    func update(_ change: @Sendable (inout StreamingOptions) -> Void) {
        let options = applied.withLock { options in
            change(&options)
            return options
        }
        write("update \(options.preferredPeakBitRate?.description ?? "any")")
    }

    private func report(_ kind: PlaybackEvent.Kind) {
        let position = machine.timebase.mediaTime(at: time.now)
        request.observer(.event(PlaybackEvent(time: time.now, mediaTime: position, kind: kind)))
    }

    private func publish() { request.observer(.snapshot(machine)) }
}
