import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import Testing

@testable import StreamingEngine

/// Tests that no session waits for an event that never occurs, for any combination of streams, failures and commands.
@Suite struct EngineStandstillTests {
    /// A pseudorandom number generator with a seed.
    private struct Choices {
        private var state: UInt64

        init(_ seed: Int) { state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

        mutating func number(below limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }

        mutating func isOne(in count: Int) -> Bool { number(below: count) == 0 }
        mutating func element<Element>(of elements: [Element]) -> Element { elements[number(below: elements.count)] }
    }

    private static let items = [
        EngineSession.ladder,
        """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="text.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,CODECS="avc1.4d401e,mp4a.40.2",AUDIO="a",SUBTITLES="s"
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,CODECS="avc1.4d401f,mp4a.40.2",AUDIO="a"
        high.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,RESOLUTION=640x360,CODECS="avc1.4d401e",URI="i.m3u8"

        """,
    ]

    private static func media(_ name: String, _ choices: inout Choices, isLive: Bool) -> [String] {
        guard isLive else {
            var lines: [Int: String] = [:]
            if choices.isOne(in: 3) { lines[choices.number(below: 8)] = "#EXT-X-GAP" }
            if choices.isOne(in: 3) { lines[choices.number(below: 8)] = "#EXT-X-DISCONTINUITY" }
            return [EngineSession.vod(name, choices.number(below: 9), lines)]
        }
        var first = choices.number(below: 3)
        return (0..<choices.number(below: 9) + 1).map { version in
            defer { first = max(0, first + choices.element(of: [0, 1, 1, 1, 2, 9, -3])) }
            let header = choices.isOne(in: 4) ? "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=36\n" : ""
            let skip =
                version > 0 && choices.isOne(in: 5)
                ? "#EXT-X-SKIP:SKIPPED-SEGMENTS=\(1 + choices.number(below: 9))\n" : ""
            let isEnded = version > 1 && choices.isOne(in: 6)
            return EngineSession.live(name, first, choices.number(below: 6), header + skip, ended: isEnded)
        }
    }

    private static func session(_ seed: Int) -> (session: EngineSession, commands: [String]) {
        var choices = Choices(seed)
        var options = StreamingOptions()
        options.patience = .seconds(20)
        options.usesNetworkWhilePaused = !choices.isOne(in: 3)
        options.preservesTimeOffsetFromLive = choices.isOne(in: 3)
        if choices.isOne(in: 5) {
            options.forwardPlaybackEndTime = MediaTime(seconds: Int64(choices.number(below: 30)))
        }
        if choices.isOne(in: 5) { options.startTime = MediaTime(seconds: Int64(choices.number(below: 60))) }
        var session = EngineSession(options)
        session.recordsLines = false
        session.segmentSize = 1_000
        if choices.isOne(in: 2) { session.observation.abilities.fullPresentationRates = -2...2 }
        let isLive = choices.isOne(in: 2)
        session.playlists["main.m3u8"] = [choices.element(of: items)]
        for name in ["low", "high", "en", "ko", "text", "i"] {
            session.playlists["\(name).m3u8"] = media(name, &choices, isLive: isLive)
            let failures: [EngineSession.Outcome] = [
                .loaded, .loaded, .status(404), .status(503), .unreachable, .keyRefused, .notDecodable,
            ]
            for _ in 0..<choices.number(below: 4) {
                session.outcomes["\(name)\(choices.number(below: 9)).ts"] = [
                    choices.element(of: failures), choices.element(of: failures),
                ]
            }
            if choices.isOne(in: 6) {
                session.outcomes["\(name).m3u8"] = [
                    .loaded, choices.element(of: [.status(404), .unreachable]), .loaded,
                ]
            }
            session.transferTimes[name] = choices.element(of: [0.1, 1, 5])
        }
        var commands: [String] = []
        session.start("main.m3u8")
        for waiter in 1...(1 + choices.number(below: 9)) {
            let command: EngineCommand
            let time = MediaTime(seconds: Int64(choices.number(below: 80)))
            switch choices.number(below: 7) {
            case 0, 1:
                let rate = choices.element(of: [0, 1, 1, 2, -1, 8, -8])
                command = .setRate(Double(rate), reason: .setRateCalled, atOnce: choices.isOne(in: 4))
            case 2, 3: command = .seek(to: time, choices.element(of: [.any, .exact]), waiter: waiter)
            case 4: command = .setRateSynchronized(1, from: time, at: session.now + .seconds(2), waiter: waiter)
            case 5: command = choices.isOne(in: 2) ? .cancelPendingSeeks : .step(count: 1, waiter: waiter)
            default:
                let type = choices.element(of: [Rendition.MediaType.audio, .subtitles])
                let options = session.state.control.plan.catalog.presentation?.group(type)?.options ?? []
                command = .select(choices.isOne(in: 2) ? options.last : nil, type)
            }
            commands.append("\(session.now) \(command)")
            session.command(command)
            session.run(until: session.now / .seconds(1) + choices.element(of: [0, 0.5, 3, 20]))
        }
        return (session, commands)
    }

    @Test(arguments: 0..<4)
    func anIdleSessionHasReturnedAllResults(_ group: Int) {
        var idleCount = 0
        for seed in (group * 25)..<(group * 25 + 25) {
            var (session, commands) = Self.session(seed)
            session.run(until: 400)
            guard session.isAtRest, !session.isFinished else { continue }
            idleCount += 1
            let control = session.state.control
            let machine = control.playhead.machine
            let waits = machine.desiredRate != 0 && machine.rate == 0 && !machine.hasEnded
            #expect(
                session.waiters.isEmpty && control.playhead.isPositioned && !waits,
                "seed \(seed): \(session.waiters), \(commands)"
            )
        }
        #expect(idleCount > 0)
    }

    @Test func aStoppedSessionHasReturnedAllResults() {
        for seed in 0..<25 {
            var (session, commands) = Self.session(seed)
            session.stop()
            #expect(session.waiters.isEmpty && session.isClosed, "seed \(seed): \(commands)")
        }
    }
}
