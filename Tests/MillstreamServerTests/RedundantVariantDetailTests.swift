import HLSPlaylist
import HTTPTypes
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests what is known of the media playlist of a redundant variant over time.
@Suite struct VariantObservationDetailTests {
    private static func outcome(_ text: String) throws -> VariantObservation.Outcome {
        VariantObservation.Outcome(try Playlist.parse(Array(text.utf8)))
    }

    private static let target = MediaTime(seconds: 4)

    @Test(
        arguments: [
            (nil, 4_000), (500, 1_000), (1_000, 1_000), (6_000, 6_000), (10_000, 10_000), (20_000, 10_000),
        ] as [(Int64?, Int64)]
    )
    func resultIsUsedForATargetDuration(target: Int64?, milliseconds: Int64) {
        var observation = VariantObservation()
        #expect(!observation.isFresh(at: .zero))
        var result = VariantObservation.Outcome.failed
        if let target { result = .complete(targetDuration: MediaTime(value: target, timescale: 1_000)) }
        observation.record(result, at: .seconds(1))
        #expect(observation.isFresh(at: .milliseconds(1_000 + milliseconds - 1)))
        #expect(!observation.isFresh(at: .milliseconds(1_000 + milliseconds)))
    }

    @Test func onlySuccessiveTimeOutsAreAFailure() {
        let complete = VariantObservation.Outcome.complete(targetDuration: Self.target)
        let steps: [(result: VariantObservation.Outcome, expected: VariantAvailability)] = [
            (.timedOut, .unknown), (complete, .complete), (.timedOut, .complete), (complete, .complete),
            (.timedOut, .complete), (.timedOut, .failed), (complete, .complete), (.failed, .failed),
            (.timedOut, .failed), (complete, .complete),
        ]
        var observation = VariantObservation()
        for (number, step) in steps.enumerated() {
            observation.record(step.result, at: .zero)
            #expect(observation.availability(at: .zero) == step.expected, "\(number)")
        }
    }

    /// A playlist with another partial segment has changed; a failure in between does not restart the time.
    @Test func timeWithoutAChangeIsThatSinceTheLastEnd() {
        let steps: [(sequence: Int64?, parts: Int, seconds: Int64, unchanged: Int64, hasChanged: Bool)] = [
            (2, 0, 0, 0, false), (2, 0, 4, 4, false), (2, 1, 8, 0, true), (2, 1, 12, 4, true), (nil, 0, 14, 0, true),
            (2, 1, 16, 8, true), (3, 0, 20, 0, true),
        ]
        var observation = VariantObservation()
        for step in steps {
            let now = Duration.seconds(step.seconds)
            guard let sequence = step.sequence else {
                observation.record(.failed, at: now)
                #expect(observation.availability(at: now) == .failed)
                continue
            }
            let value = VariantObservation.End(sequence: sequence, partCount: step.parts)
            observation.record(.live(value, targetDuration: Self.target), at: now)
            let expected = LiveVariant(
                targetDuration: Self.target,
                endSequence: sequence,
                unchangedTime: .seconds(step.unchanged),
                hasChanged: step.hasChanged
            )
            #expect(observation.availability(at: now) == .live(expected), "\(step.seconds)")
        }
    }

    /// The removal of old segments from an I-frame playlist does not show that segments were added.
    @Test func changeOfTheToleranceAloneIsNoChange() {
        var observation = VariantObservation()
        for (seconds, tolerated) in [(0, 12), (4, 9), (8, 3)] as [(Int, Int64)] {
            let now = Duration.seconds(seconds)
            let end = VariantObservation.End(sequence: 20, toleratedSegmentCount: tolerated)
            observation.record(.live(end, targetDuration: Self.target), at: now)
            let expected = LiveVariant(
                targetDuration: Self.target,
                endSequence: 20,
                unchangedTime: now,
                hasChanged: false,
                toleratedSegmentCount: tolerated
            )
            #expect(observation.availability(at: now) == .live(expected), "\(seconds)")
        }
    }

    @Test func endIsThatOfThePlaylist() throws {
        let header = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:7\n"
        let segment = "#EXTINF:4,\n0.ts\n"
        let part = "#EXT-X-PART:DURATION=1,URI=\"p.ts\"\n"
        #expect(try Self.outcome(header) == .live(VariantObservation.End(sequence: 7), targetDuration: Self.target))
        #expect(
            try Self.outcome(header + segment + part + part)
                == .live(VariantObservation.End(sequence: 8, partCount: 2), targetDuration: Self.target)
        )
        #expect(try Self.outcome("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n") == .failed)
    }

    @Test(
        arguments: [("", 10), ("#EXT-X-TARGETDURATION:1\n", 1), ("#EXT-X-TARGETDURATION:30\n", 30)]
            as [(String, Int64)]
    )
    func targetDurationHasADefault(tag: String, seconds: Int64) throws {
        let outcome = try Self.outcome("#EXTM3U\n\(tag)#EXTINF:1,\n0.ts\n#EXT-X-ENDLIST\n")
        #expect(outcome == .complete(targetDuration: MediaTime(seconds: seconds)))
    }

    /// I-frames are counted in the last three target durations, and are at least as many as segments.
    @Test(arguments: [(20, 12), (12, 12), (4, 4), (3, 3), (1, 3)] as [(Int, Int64)])
    func shortFramesAreToleratedInTargetDurations(count: Int, tolerated: Int64) throws {
        let frames = (0..<count).map { "#EXTINF:1,\n\($0).ts\n" }.joined()
        let tags = "#EXTM3U\n#EXT-X-VERSION:4\n#EXT-X-TARGETDURATION:4\n"
        let live = try Self.outcome(tags + "#EXT-X-I-FRAMES-ONLY\n" + frames)
        let end = VariantObservation.End(sequence: Int64(count), toleratedSegmentCount: tolerated)
        #expect(live == .live(end, targetDuration: Self.target))
        #expect(
            try Self.outcome(tags + frames)
                == .live(VariantObservation.End(sequence: Int64(count)), targetDuration: Self.target)
        )
        #expect(VariantObservation.End(sequence: 0).toleratedSegmentCount == 3)
    }
}

/// Tests the loads of the media playlists of redundant variants.
@Suite(.timeLimit(.minutes(10))) struct VariantLoadDetailTests {
    /// An error that is none of a transport.
    private struct Failure: Error {}

    @Test func eightPlaylistsAreLoadedAtOnce() async throws {
        let time = Simulation()
        let monitor = VariantMonitor(time: time)
        let addresses = (0..<40).map { ResourceAddress("https://h/\($0).m3u8") }
        let begun = Mutex(0)
        let slow: VariantMonitor.Load = { _ in
            begun.withLock { $0 += 1 }
            try await time.sleep(for: .seconds(60))
            throw Failure()
        }
        try await time.run { _ = try await monitor.availability(of: addresses, loading: slow) }
        // The first ones are abandoned after two seconds, and the others after three.
        #expect(begun.withLock { $0 } == 16)
        #expect(VariantMonitor.maximumTime == .seconds(3) && VariantMonitor.maximumLoadTime == .seconds(2))
    }

    @Test(
        arguments: [
            (.badGateway, true), (.gatewayTimeout, true), (.unsupportedMediaType, true), (.serviceUnavailable, false),
            (.tooManyRequests, false), (.contentTooLarge, false),
        ] as [(HTTPResponse.Status, Bool)]
    )
    func statusDistinguishesFailuresOfTheOrigin(status: HTTPResponse.Status, isOfOrigin: Bool) async throws {
        let monitor = VariantMonitor(time: SystemTimeSource())
        let address = ResourceAddress("https://h/a.m3u8")
        let found = try await monitor.availability(of: [address]) { _ in throw ServerError(status, "x", "x") }
        #expect(found == [address: isOfOrigin ? .failed : .unknown])
    }

    @Test(
        arguments: [
            (.status, true), (.timedOut, true), (.wrongContent, true), (.tooManyLookups, false),
            (.networkRefused, false), (.tokenUnavailable, false), (.tooLarge, false),
        ] as [(TransportError.Code, Bool)]
    )
    func codeDistinguishesFailuresOfTheOrigin(code: TransportError.Code, isOfOrigin: Bool) async throws {
        let monitor = VariantMonitor(time: SystemTimeSource())
        let address = ResourceAddress("https://h/a.m3u8")
        let found = try await monitor.availability(of: [address]) { _ in throw TransportError(code, "x") }
        #expect(found == [address: isOfOrigin ? .failed : .unknown])
        let other = ResourceAddress("https://h/b.m3u8")
        let unknown = try await monitor.availability(of: [other]) { _ in throw Failure() }
        #expect(unknown == [other: .unknown])
    }

    // MARK: Removal

    private func removal(
        _ transport: ScriptedTransport,
        _ time: any TimeSource,
        _ limits: ServerLimits = ServerLimits()
    ) throws -> RedundantVariantRemoval {
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0), time: time)
        return RedundantVariantRemoval(
            loader: OriginPlaylistLoader(loader: loader, workers: .callingTask),
            budget: try ServerCapacity(limits).admit(),
            workers: .callingTask,
            monitor: VariantMonitor(time: time)
        )
    }

    private static func multivariant(_ names: [String]) throws -> MultivariantPlaylist {
        let variants = names.map { "#EXT-X-STREAM-INF:BANDWIDTH=1\nhttps://h/\($0).m3u8\n" }.joined()
        return try MultivariantPlaylist(parsing: Array(("#EXTM3U\n" + variants).utf8))
    }

    private static let complete = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"

    @Test func playlistsBeyondTheMaximumAreNotLoaded() async throws {
        let names = (0..<66).map { "v\($0)" }
        let texts = names.map { ("https://h/\($0).m3u8", Self.complete) }
        let transport = ScriptedTransport(texts: Dictionary(uniqueKeysWithValues: texts))
        let time = Simulation()
        let removal = try removal(transport, time)
        let playlist = try Self.multivariant(names)
        let count = try await time.run { try await removal.removeUnavailableVariants(of: playlist).variants.count }
        #expect(count == 66 && RedundantVariantRemoval.maximumPlaylistCount == 64)
        #expect(Set(transport.requestedAddresses) == Set(names.prefix(64).map { "https://h/\($0).m3u8" }))
    }

    /// A playlist that this server may not load is not one that the origin does not have.
    @Test(arguments: [(32 << 20, ["one"]), (300, ["one", "two"])] as [(Int64, [String])])
    func variantBeyondTheBudgetRemains(loadedBytes: Int64, expected: [String]) async throws {
        // The second one is no media playlist, and therefore a failure if it is loaded.
        let wrong = "#EXTM3U\n" + (0..<20).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1)\n\($0).m3u8\n" }.joined()
        let transport = ScriptedTransport(texts: ["https://h/one.m3u8": Self.complete, "https://h/two.m3u8": wrong])
        let limits = ServerLimits(editing: EditLimits(loadedBytes: ByteCount(loadedBytes)))
        let time = Simulation()
        let removal = try removal(transport, time, limits)
        let playlist = try Self.multivariant(["one", "two"])
        let result = try await time.run { try await removal.removeUnavailableVariants(of: playlist) }
        #expect(result.variants.map(\.address.text) == expected.map { "https://h/\($0).m3u8" })
    }
}
