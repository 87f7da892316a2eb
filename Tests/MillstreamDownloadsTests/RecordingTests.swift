import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// A clock whose time passes only by sleeping, which takes hardly any time.
final class QuickTime: TimeSource {
    private let passed = Mutex(Duration.zero)

    var now: Duration { passed.withLock { $0 } }

    func sleep(for duration: Duration) async throws {
        try await Task.sleep(for: .milliseconds(1))
        advance(by: duration)
    }

    func advance(by duration: Duration) { passed.withLock { $0 += duration } }
}

/// A clock that runs several times as fast as that of the system.
private struct FastTime: TimeSource {
    var rate = 50
    private let system = SystemTimeSource()

    var now: Duration { system.now * rate }

    func sleep(for duration: Duration) async throws { try await system.sleep(for: duration / rate) }
}

/// An origin of a live stream whose window moves with each load of the media playlist.
private final class LiveOrigin: Sendable {
    /// The state of the stream at one load of the media playlist.
    struct Version {
        /// The media sequence number of the first segment.
        var first: Int
        var count = 6
        var hasEnded = false
        var hasDates = true
        /// The prefix of the segment names, which is different after a restart.
        var prefix = "s"
        /// The number of a segment that has another name.
        var renamed: Int?
        /// The status of the response, if it is not successful.
        var status: Int?
    }

    static let root = "https://live.example/"
    private struct State {
        var loads = 0
        var token = 0
        var requests: [String] = []
    }

    private let state = Mutex(State())
    private let version: @Sendable (_ load: Int) -> Version
    /// A function that is called before each response.
    private let willRespond: @Sendable (_ name: String) -> Void
    private let isMissing: @Sendable (_ name: String) -> Bool
    private let usesTokens: Bool
    private let isMediaPlaylist: Bool

    init(
        missing: Set<String> = [],
        isMissing: (@Sendable (_ name: String) -> Bool)? = nil,
        usesTokens: Bool = false,
        isMediaPlaylist: Bool = false,
        willRespond: @escaping @Sendable (_ name: String) -> Void = { _ in },
        _ version: @escaping @Sendable (_ load: Int) -> Version
    ) {
        self.isMissing = isMissing ?? { missing.contains($0) }
        self.usesTokens = usesTokens
        self.isMediaPlaylist = isMediaPlaylist
        self.willRespond = willRespond
        self.version = version
    }

    var requests: [String] { state.withLock { $0.requests } }
    var segments: [String] { requests.filter { $0.hasSuffix(".ts") } }

    func resource(_ address: String) -> SyntheticOrigin.Resource? {
        let parts = address.dropFirst(Self.root.count).split(separator: "?t=").map(String.init)
        let name = parts[0]
        willRespond(name)
        return state.withLock { state in
            state.requests.append(name)
            if name == "main.m3u8", !isMediaPlaylist {
                state.token += 1
                let uri = "live.m3u8" + (usesTokens ? "?t=\(state.token)" : "")
                return .text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=500000\n\(uri)\n")
            }
            if name.hasSuffix(".m3u8") {
                let version = version(state.loads)
                state.loads += 1
                if usesTokens, state.loads % 4 == 0 {
                    return .failure(TransportError(.status, "the token has expired", status: 403))
                }
                if let status = version.status {
                    return .failure(TransportError(.status, "the server answered \(status)", status: status))
                }
                return .text(text(version))
            }
            if isMissing(name) { return .failure(TransportError(.status, "not found", status: 404)) }
            return .bytes(Array("media of \(name)".utf8))
        }
    }

    private func text(_ version: Version) -> String {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(version.first)\n"
        for number in version.first..<version.first + version.count {
            if version.hasDates {
                let date = ProgramDateTime(sinceEpoch: MediaTime(seconds: 1_700_000_000 + Int64(number) * 4))
                text += "#EXT-X-PROGRAM-DATE-TIME:\(date)\n"
            }
            text += "#EXTINF:4,\n\(number == version.renamed ? "r" : version.prefix)\(number).ts\n"
        }
        return text + (version.hasEnded ? "#EXT-X-ENDLIST\n" : "")
    }
}

/// Tests of recordings of live streams.
@Suite(.timeLimit(.minutes(5))) struct RecordingTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private func recording(
        _ origin: LiveOrigin,
        _ options: RecordingOptions = RecordingOptions(),
        source: String = "main.m3u8",
        time: any TimeSource = QuickTime()
    ) -> AssetDownload {
        let transport = SyntheticOrigin(time: time) { address, _ in origin.resource(address) }
        var configuration = DownloadConfiguration()
        configuration.recording = options
        return AssetDownload(
            ResourceAddress(LiveOrigin.root + source),
            into: temporary.library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0), time: time),
            configuration: configuration,
            time: time
        )
    }

    private func playlist(of asset: StoredAsset) throws -> MediaPlaylist {
        try MediaPlaylist(parsing: Array(temporary.text("variant-0/media.m3u8", of: asset.id).utf8))
    }

    /// Returns the content of the stored segments; `nil` for gaps.
    private func contents(of asset: StoredAsset) throws -> [String?] {
        try playlist(of: asset).segments.map { segment in
            segment.isGap ? nil : try temporary.text("variant-0/\(segment.uri)", of: asset.id)
        }
    }

    private func media(_ numbers: ClosedRange<Int>, prefix: String = "s") -> [String?] {
        numbers.map { "media of \(prefix)\($0).ts" }
    }

    @Test func aMovingWindowIsRecordedUntilItEnds() async throws {
        let origin = LiveOrigin { .init(first: 10 + $0, hasEnded: $0 >= 8) }
        let asset = try await recording(origin).run()
        // It begins three target durations before the end, and has each segment once.
        #expect(try contents(of: asset) == media(13...23))
        #expect(origin.segments.count == Set(origin.segments).count)
        #expect(asset.state == .complete)
        #expect(asset.isPlayableOffline)
        #expect(asset.duration == MediaTime(seconds: 44))
        let playlist = try playlist(of: asset)
        #expect(playlist.playlistType == .vod)
        #expect(playlist.hasEndMarker)
        #expect(try temporary.library.verify(asset.id).damaged == [])
    }

    @Test func aRecordingFromTheBeginningHasTheWholeWindow() async throws {
        let origin = LiveOrigin { .init(first: 10 + $0, hasEnded: $0 >= 2) }
        let asset = try await recording(origin, RecordingOptions(startsFromBeginning: true)).run()
        #expect(try contents(of: asset) == media(10...17))
    }

    @Test func theDurationEndsTheRecording() async throws {
        let origin = LiveOrigin { .init(first: 10 + $0) }
        let asset = try await recording(origin, RecordingOptions(duration: MediaTime(seconds: 18))).run()
        #expect(asset.duration == MediaTime(seconds: 20))
        #expect(try contents(of: asset) == media(13...17))
        // The recorded media counts, so that there is nothing more to record.
        let again = try await recording(origin, RecordingOptions(duration: MediaTime(seconds: 18))).run()
        #expect(again.id == asset.id)
        #expect(again.duration == MediaTime(seconds: 20))
    }

    @Test func lostSegmentsWithDatesAreMarkedAsGaps() async throws {
        // After two loads, the window jumps by ten.
        let origin = LiveOrigin { .init(first: $0 < 2 ? 10 + $0 : 20 + $0, hasEnded: $0 >= 3) }
        let lost = Mutex<Int64>(0)
        let asset = try await recording(origin).run { event in
            if case .lost(_, let count) = event { lost.withLock { $0 += count } }
        }
        #expect(try contents(of: asset) == media(13...16) + Array(repeating: nil, count: 5) + media(22...28))
        #expect(lost.withLock { $0 } == 5)
        #expect(asset.duration == MediaTime(seconds: 64))
        #expect(try playlist(of: asset).segments.allSatisfy { !$0.hasDiscontinuity })
    }

    @Test func lostSegmentsWithoutDatesAreADiscontinuity() async throws {
        let origin = LiveOrigin { .init(first: $0 < 2 ? 10 : 20, hasEnded: $0 >= 2, hasDates: false) }
        let lost = Mutex<Int64>(0)
        let asset = try await recording(origin).run { event in
            if case .lost(_, let count) = event { lost.withLock { $0 += count } }
        }
        #expect(try contents(of: asset) == media(13...15) + media(20...25))
        #expect(lost.withLock { $0 } == 4)
        #expect(
            try playlist(of: asset).segments.map(\.hasDiscontinuity) == [false, false, false, true]
                + Array(repeating: false, count: 5)
        )
    }

    @Test func aSegmentThatIsNotAvailableIsAGap() async throws {
        let origin = LiveOrigin(missing: ["s14.ts"]) { .init(first: 10 + $0, hasEnded: $0 >= 2) }
        let asset = try await recording(origin).run()
        #expect(try contents(of: asset) == media(13...13) + [nil] + media(15...17))
        #expect(asset.state == .complete)
    }

    @Test func aSegmentIsRequestedAgainWhileThePlaylistListsIt() async throws {
        let counts = Mutex<[String: Int]>([:])
        let origin = LiveOrigin(
            isMissing: { name in
                guard ["s14.ts", "s16.ts"].contains(name) else { return false }
                return counts.withLock { counts in
                    counts[name, default: 0] += 1
                    return counts[name, default: 0] <= 1
                }
            },
            { .init(first: 10 + $0, hasEnded: $0 >= 2) }
        )
        let lost = Mutex<Int64>(0)
        let asset = try await recording(origin).run { event in
            if case .lost(_, let count) = event { lost.withLock { $0 += count } }
        }
        #expect(try contents(of: asset) == media(13...17))
        #expect(lost.withLock { $0 } == 0 && asset.state == .complete)
        #expect(origin.segments.count { $0 == "s14.ts" } == 2)
    }

    @Test func aSegmentThatLeftThePlaylistIsRequestedOnceMore() async throws {
        let origin = LiveOrigin(missing: ["s14.ts"]) { .init(first: 10 + $0, hasEnded: $0 >= 20) }
        let asset = try await recording(origin).run()
        #expect(try contents(of: asset) == media(13...13) + [nil] + media(15...35))
        // Five versions of the playlist list it.
        #expect((2...8).contains(origin.segments.count { $0 == "s14.ts" }))
    }

    /// Returns the number of segments in the local playlist of the only asset of a library.
    private static func segmentCount(in library: AssetLibrary) -> Int {
        guard let asset = try? library.assets().first else { return 0 }
        let path = library.packageDirectory(asset.id).appendingPathComponent("variant-0/media.m3u8")
        return (try? String(contentsOf: path, encoding: .utf8))?.components(separatedBy: "#EXTINF:").dropFirst().count
            ?? 0
    }

    private static func storedCount(in library: AssetLibrary) -> Int {
        let resources = try? library.assets().first.map { try library.resources($0.id) }
        return resources?.count { $0.bytes != nil } ?? 0
    }

    @Test func missingSegmentsDoNotStopTheLocalPlaylist() async throws {
        let library = temporary.library
        // The playlist lists all segments until its end.
        let missing = Set((12..<72).map { "s\($0).ts" })
        let hasGrown = Mutex(false)
        let origin = LiveOrigin(missing: missing) { load in
            if Self.segmentCount(in: library) > 62 { hasGrown.withLock { $0 = true } }
            return .init(first: 10, count: 70 + load, hasEnded: load >= 400 || hasGrown.withLock { $0 })
        }
        let options = RecordingOptions(startsFromBeginning: true)
        let asset = try await recording(origin, options, time: FastTime()).run()
        #expect(hasGrown.withLock { $0 })
        #expect(try playlist(of: asset).segments.count(where: \.isGap) == 60)
    }

    @Test func lastRequestsHaveALimitOfTime() async throws {
        let missing = Set((11..<51).map { "s\($0).ts" })
        let time = QuickTime()
        let origin = LiveOrigin(
            missing: missing,
            willRespond: { if missing.contains($0) { time.advance(by: .seconds(10)) } },
            { _ in .init(first: 10, count: 42, hasEnded: true) }
        )
        let lost = Mutex<Int64>(0)
        let asset = try await recording(origin, time: time).run { event in
            if case .lost(_, let count) = event { lost.withLock { $0 += count } }
        }
        #expect(try contents(of: asset) == media(10...10) + Array(repeating: nil, count: 40) + media(51...51))
        #expect(lost.withLock { $0 } == 40)
        #expect(origin.segments.count < 60)
    }

    @Test func segmentsThatAreMissingAtTheCancellationAreReported() async throws {
        let library = temporary.library
        let started = AsyncStream<Void>.makeStream()
        let origin = LiveOrigin(missing: ["s14.ts"]) { load in
            // Five segments of the first version, and one that appeared later.
            if Self.storedCount(in: library) >= 6 { started.continuation.finish() }
            return .init(first: 10, count: 6 + load)
        }
        let lost = Mutex<Int64>(0)
        let options = RecordingOptions(startsFromBeginning: true)
        let download = recording(origin, options, time: FastTime(rate: 10))
        let task = Task {
            try await download.run { event in
                if case .lost(_, let count) = event { lost.withLock { $0 += count } }
            }
        }
        for await _ in started.stream {}
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        let asset = try #require(try temporary.library.assets().first)
        #expect(try contents(of: asset).prefix(6) == media(10...13) + [nil] + media(15...15))
        #expect(lost.withLock { $0 } == 1)
    }

    @Test func namesThatChangeWithEachVersionAreNoRestart() async throws {
        // Each version is loaded twice.
        let origin = LiveOrigin {
            .init(first: 10 + $0 / 2, hasEnded: $0 >= 11, hasDates: false, prefix: "token\($0 / 2)-")
        }
        let asset = try await recording(origin).run()
        let numbers = try contents(of: asset).map { $0?.split(separator: "-").last.map { String($0) } }
        #expect(numbers == (13...20).map { "\($0).ts" })
        #expect(try playlist(of: asset).segments.allSatisfy { !$0.hasDiscontinuity })
    }

    /// The next segment is published with the new name, or later.
    @Test(arguments: [0, 1]) func anotherNameOfOneSegmentIsNoRestart(delay: Int) async throws {
        let origin = LiveOrigin {
            .init(
                first: 10 + max(0, $0 - delay),
                hasEnded: $0 >= 4 + delay,
                hasDates: false,
                renamed: $0 > 0 ? 15 : nil
            )
        }
        let asset = try await recording(origin).run()
        #expect(try contents(of: asset) == media(13...19))
        #expect(try playlist(of: asset).segments.allSatisfy { !$0.hasDiscontinuity })
    }

    @Test func namesThatChangeWithEachLoadAreNoRestart() async throws {
        let origin = LiveOrigin {
            .init(first: 10 + $0, hasEnded: $0 >= 8, hasDates: false, prefix: "token\($0)-")
        }
        let asset = try await recording(origin).run()
        let numbers = try contents(of: asset).map { $0?.split(separator: "-").last.map { String($0) } }
        #expect(numbers == (13...23).map { "\($0).ts" })
        #expect(try playlist(of: asset).segments.allSatisfy { !$0.hasDiscontinuity })
    }

    @Test func aRestartWithinTheNumbersOfThePlaylistIsADiscontinuity() async throws {
        let origin = LiveOrigin {
            .init(first: $0 < 4 ? 3 + $0 : 4 + $0, hasEnded: $0 >= 7, hasDates: false, prefix: $0 < 4 ? "a" : "b")
        }
        let asset = try await recording(origin).run()
        #expect(try contents(of: asset) == media(6...11, prefix: "a") + media(9...16, prefix: "b"))
        let playlist = try playlist(of: asset)
        #expect(playlist.segments.enumerated().filter { $0.element.hasDiscontinuity }.map(\.offset) == [6])
    }

    @Test func anOriginThatChangesItsKindOfPlaylistIsRecordedOn() async throws {
        let first = LiveOrigin(isMediaPlaylist: true) { .init(first: 10 + $0, hasEnded: $0 >= 1) }
        let id = try await recording(first).run().id
        let second = LiveOrigin { .init(first: 20 + $0, hasEnded: $0 >= 1) }
        #expect(try await recording(second).run().id == id)
        let third = LiveOrigin(isMediaPlaylist: true) { .init(first: 30 + $0, hasEnded: $0 >= 1) }
        let asset = try await recording(third).run()
        #expect(asset.id == id && asset.state == .complete)
        let text = try temporary.text("media/media.m3u8", of: id)
        #expect(text.contains("#EXT-X-ENDLIST"))
        let top = try MultivariantPlaylist(parsing: Array(temporary.text("multivariant.m3u8", of: id).utf8))
        #expect(top.variants.map(\.uri) == ["media/media.m3u8"])
        #expect(try temporary.library.verify(id).damaged == [])
    }

    @Test func aRestartOfTheOriginIsADiscontinuity() async throws {
        let origin = LiveOrigin {
            .init(first: $0 < 3 ? 500 + $0 : $0 - 3, hasEnded: $0 >= 5, hasDates: false, prefix: $0 < 3 ? "a" : "b")
        }
        let asset = try await recording(origin).run()
        #expect(try contents(of: asset) == media(503...507, prefix: "a") + media(0...7, prefix: "b"))
        let playlist = try playlist(of: asset)
        #expect(playlist.segments.enumerated().filter { $0.element.hasDiscontinuity }.map(\.offset) == [5])
    }

    @Test func failedReloadsDoNotEndTheRecording() async throws {
        let origin = LiveOrigin { .init(first: 10 + $0 / 3, hasEnded: $0 >= 12, status: $0 % 3 == 1 ? 500 : nil) }
        let asset = try await recording(origin).run()
        #expect(try contents(of: asset) == media(13...19))
    }

    @Test func aStreamThatStallsForeverEndsTheRecording() async throws {
        let origin = LiveOrigin { .init(first: 10 + min($0, 3)) }
        let stalls = Mutex<[String]>([])
        let error = await #expect(throws: DownloadError.self) {
            // The last segments have six seconds to arrive before the recording ends.
            let options = RecordingOptions(duration: MediaTime(seconds: 3_600))
            try await recording(origin, options, time: FastTime()).run { event in
                if case .waiting(let error) = event { stalls.withLock { $0.append(error.message) } }
            }
        }
        #expect(error?.code == .transport && error?.detail == "timed-out")
        #expect(error?.message.contains("no new segment for 3") == true, "\(error?.message ?? "")")
        #expect(stalls.withLock { $0.count } == 1)
        let asset = try #require(try temporary.library.assets().first)
        #expect(asset.state == .complete && asset.isPlayableOffline)
        #expect(try contents(of: asset) == media(13...18))
        let playlist = try playlist(of: asset)
        #expect(playlist.playlistType == .vod && playlist.hasEndMarker)
    }

    @Test func aStreamThatContinuesAfterAStallIsRecordedOn() async throws {
        let origin = LiveOrigin { .init(first: 10 + max(0, $0 - 30), hasEnded: $0 >= 33) }
        let stalls = Mutex(0)
        let asset = try await recording(origin).run { event in
            if case .waiting = event { stalls.withLock { $0 += 1 } }
        }
        #expect(stalls.withLock { $0 } == 1)
        #expect(try contents(of: asset) == media(13...18))
    }

    @Test func expiredAddressesAreRenewed() async throws {
        let origin = LiveOrigin(usesTokens: true) { .init(first: 10 + $0 / 2, hasEnded: $0 >= 12) }
        let asset = try await recording(origin).run()
        let contents = try contents(of: asset)
        #expect(contents.first == "media of s13.ts")
        #expect(contents.count >= 8)
        #expect(!contents.contains(nil))
        #expect(origin.requests.count { $0 == "main.m3u8" } >= 3)
    }

    @Test func theRecordingWaitsForTheStream() async throws {
        let origin = LiveOrigin {
            $0 < 3
                ? .init(first: 0, status: 404) : $0 < 5 ? .init(first: 0, count: 0) : .init(first: 0, hasEnded: $0 > 6)
        }
        let waits = Mutex(0)
        let asset = try await recording(origin, RecordingOptions(waitsForStream: true)).run { event in
            if case .waiting = event { waits.withLock { $0 += 1 } }
        }
        #expect(waits.withLock { $0 } == 1)
        #expect(try contents(of: asset) == media(3...5))
        let error = await #expect(throws: DownloadError.self) {
            try await recording(LiveOrigin { _ in .init(first: 0, status: 404) }, source: "other/main.m3u8").run()
        }
        #expect(error != nil)
    }

    @Test func thePackageIsAnEventPlaylistWhileItGrows() async throws {
        let library = temporary.library
        let versions = Mutex<[String]>([])
        let origin = LiveOrigin(
            willRespond: { name in
                guard name == "live.m3u8", let asset = try? library.assets().first else { return }
                let path = library.packageDirectory(asset.id).appendingPathComponent("variant-0/media.m3u8")
                guard let text = try? String(contentsOf: path, encoding: .utf8) else { return }
                versions.withLock { $0.append(text) }
            },
            { .init(first: 10 + $0, hasEnded: $0 >= 12) }
        )
        let asset = try await recording(origin).run()
        let final = try playlist(of: asset)
        let texts = versions.withLock { $0 }.filter { $0.contains("#EXTINF") }
        #expect(!texts.isEmpty)
        for text in texts {
            let playlist = try MediaPlaylist(parsing: Array(text.utf8))
            #expect(playlist.playlistType == .event && !playlist.hasEndMarker)
            // Each version is a beginning of the next, and lists only stored segments.
            #expect(playlist.segments.map(\.uri) == final.segments.prefix(playlist.segments.count).map(\.uri))
        }
        #expect(try temporary.text("multivariant.m3u8", of: asset.id).contains("variant-0/media.m3u8"))
    }

    @Test func aCanceledRecordingIsPlayableAndCanBeContinued() async throws {
        let started = AsyncStream<Void>.makeStream()
        let loads = Mutex(0)
        let origin = LiveOrigin(
            willRespond: { name in
                guard name == "live.m3u8" else { return }
                let count = loads.withLock { loads in
                    loads += 1
                    return loads
                }
                if count == 6 { started.continuation.finish() }
            },
            { .init(first: 10 + $0) }
        )
        let download = recording(origin)
        let task = Task { try await download.run() }
        for await _ in started.stream {}
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        let asset = try #require(try temporary.library.assets().first)
        #expect(asset.state == .complete && asset.isPlayableOffline)
        let first = try contents(of: asset)
        #expect(try playlist(of: asset).hasEndMarker)
        #expect(first.count >= 3)
        // The window is far ahead now.
        let later = LiveOrigin { .init(first: 40 + $0, hasEnded: $0 >= 2) }
        let complete = try await recording(later).run()
        #expect(complete.id == asset.id)
        let all = try contents(of: complete)
        #expect(Array(all.prefix(first.count)) == first)
        #expect(Array(all.suffix(8)) == media(40...47))
        #expect(all.count == 47 - 13 + 1)
        #expect(all.dropFirst(first.count).dropLast(8).allSatisfy { $0 == nil })
    }

    @Test func theOptionsOfARecordingAreStored() throws {
        var configuration = DownloadConfiguration()
        let duration = MediaTime(decimal: "90.5")
        configuration.recording = RecordingOptions(duration: duration, startsFromBeginning: true, waitsForStream: true)
        #expect(DownloadConfiguration(stored: try configuration.stored)?.recording == configuration.recording)
        configuration.recording = nil
        #expect(DownloadConfiguration(stored: try configuration.stored)?.recording == nil)
    }
}
