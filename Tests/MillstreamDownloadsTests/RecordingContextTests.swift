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

/// Tests recordings of streams with keys and initialization sections, which apply to several segments.
@Suite(.timeLimit(.minutes(5))) struct RecordingContextTests {
    private static let source = "https://live.example/live.m3u8"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    /// Records a stream of six segments, of which one more appears with each load of the playlist.
    ///
    /// With `repeatsLast`, the last version has no new segment. A number of requests fails for each name of `failures`; `context` returns the tags of the segment with a number.
    private func record(
        from first: Int,
        ending: Int = 8,
        duration: Int64? = nil,
        repeatsLast: Bool = false,
        failures: [String: Int] = [:],
        query: String = "",
        limits: DownloadLimits = DownloadLimits(),
        context: @escaping @Sendable (Int) -> String,
        report: @escaping @Sendable (AssetDownload.Event) -> Void = { _ in }
    ) async throws -> StoredAsset {
        let loads = Mutex(0)
        let left = Mutex(failures)
        let time = QuickTime()
        let origin = SyntheticOrigin(time: time) { address, _ in
            let name = ResourceAddress(address).lastPathComponent
            if name == "live.m3u8" {
                let load = loads.withLock { loads in
                    defer { loads += 1 }
                    return loads
                }
                let number = first + min(load, repeatsLast ? ending - 1 : ending)
                return .text(Self.playlist(from: number, hasEnded: load >= ending, context))
            }
            let fails = left.withLock { left in
                guard let count = left[name], count > 0 else { return false }
                left[name] = count - 1
                return true
            }
            if fails { return .failure(TransportError(.status, "not found", status: 404)) }
            return .bytes(Array((name.hasPrefix("key") ? "0123456789abcdef" : "media of \(name)").utf8))
        }
        var configuration = DownloadConfiguration(limits: limits)
        configuration.recording = RecordingOptions(duration: duration.map { MediaTime(seconds: $0) })
        return try await AssetDownload(
            ResourceAddress(Self.source + query),
            into: temporary.library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0), time: time),
            configuration: configuration,
            time: time
        ).run(report)
    }

    private static func playlist(from first: Int, hasEnded: Bool, _ context: (Int) -> String) -> String {
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
        var applied = ""
        for number in first..<first + 6 {
            let tags = context(number)
            if tags != applied { text += tags }
            applied = tags
            text += "#EXTINF:4,\ns\(number).ts\n"
        }
        return text + (hasEnded ? "#EXT-X-ENDLIST\n" : "")
    }

    private func segments(of asset: StoredAsset) throws -> [MediaSegment] {
        Array(try MediaPlaylist(parsing: Array(temporary.text("media/media.m3u8", of: asset.id).utf8)).segments)
    }

    private static func key(_ name: String) -> String { "#EXT-X-KEY:METHOD=AES-128,URI=\"\(name)\"\n" }

    /// The key of the first segments is replaced by another one.
    private static func rotatingKey(_ number: Int) -> String { key(number < 16 ? "key1" : "key2") }

    /// Returns the tag of a date range, whose identifier is the first character.
    private static func range(_ attributes: String, from start: Int) -> String {
        let date = ProgramDateTime(sinceEpoch: MediaTime(seconds: 1_700_000_000 + Int64(start) * 4))
        return "#EXT-X-DATERANGE:ID=\"\(attributes.prefix(1))\",START-DATE=\"\(date)\"\(attributes.dropFirst())\n"
    }

    /// The date range of a break gets its end later; a preroll ended before the recording begins.
    private static func breaks(_ number: Int) -> String {
        let date = ProgramDateTime(sinceEpoch: MediaTime(seconds: 1_700_000_000 + Int64(number) * 4))
        var tags = "#EXT-X-PROGRAM-DATE-TIME:\(date)\n"
        switch number {
        case 10: tags += Self.range("p,DURATION=4", from: 2)
        case 14: tags += "#EXT-X-CUE-OUT:DURATION=8\n" + Self.range("b,SCTE35-OUT=0xFC00", from: 14)
        case 15: tags += Self.range("i,CLASS=\"com.apple.hls.interstitial\",X-ASSET-URI=\"ad.m3u8\"", from: 15)
        case 16: tags += "#EXT-X-CUE-IN\n" + Self.range("b,SCTE35-OUT=0xFC00,DURATION=8", from: 14)
        default: break
        }
        return tags
    }

    @Test func dateRangesAndMarksOfBreaksAreRecorded() async throws {
        let asset = try await record(from: 10, context: Self.breaks)
        let text = try temporary.text("media/media.m3u8", of: asset.id)
        let playlist = try MediaPlaylist(parsing: Array(text.utf8))
        #expect(playlist.dateRanges.map(\.id) == ["b"])
        #expect(playlist.dateRanges.first?.duration == MediaTime(seconds: 8))
        #expect(playlist.dateRanges.first?["SCTE35-OUT"] == "0xFC00")
        #expect(text.components(separatedBy: "#EXT-X-DATERANGE:").count == 2)
        #expect(playlist.unknownTags.map(\.name) == ["EXT-X-CUE-OUT", "EXT-X-CUE-IN"])
        let lines = text.split(separator: "\n").map(String.init)
        let out = try #require(lines.firstIndex(of: "#EXT-X-CUE-OUT:DURATION=8"))
        let segment = lines[out...].first { !$0.hasPrefix("#") }
        #expect(try segment.map { try temporary.text("media/\($0)", of: asset.id) } == "media of s14.ts")
        #expect(try temporary.library.omittedContent(of: asset.id).interstitials == 1)
        #expect(try temporary.library.verify(asset.id).damaged == [])
    }

    @Test func attributesOfDateRangesStayWhenTheirTagsLeaveThePlaylist() async throws {
        let asset = try await record(from: 10) { number in
            switch number {
            case 14: Self.range("b,SCTE35-OUT=0xFC00,PLANNED-DURATION=12", from: 14)
            case 16: Self.range("b,DURATION=8", from: 14)
            default: ""
            }
        }
        let playlist = try MediaPlaylist(parsing: Array(temporary.text("media/media.m3u8", of: asset.id).utf8))
        let range = try #require(playlist.dateRanges.first)
        #expect(playlist.dateRanges.count == 1 && range.duration == MediaTime(seconds: 8))
        #expect(range["SCTE35-OUT"] == "0xFC00" && range["PLANNED-DURATION"] == "12")
    }

    /// The same identifier at another date is another break, whose attributes are its own.
    @Test func attributesOfDateRangesOfOtherDatesAreNotMixed() async throws {
        let asset = try await record(from: 10) { number in
            switch number {
            case 14: Self.range("b,DURATION=8", from: 14)
            case 20: Self.range("b,PLANNED-DURATION=12", from: 20)
            default: ""
            }
        }
        let playlist = try MediaPlaylist(parsing: Array(temporary.text("media/media.m3u8", of: asset.id).utf8))
        #expect(playlist.dateRanges.count == 1)
        let range = try #require(playlist.dateRanges.first)
        #expect(range.duration == nil && range["PLANNED-DURATION"] == "12")
    }

    @Test func changeOfADateRangeWithoutANewSegmentIsRecorded() async throws {
        let count = Mutex(0)
        let asset = try await record(from: 10, repeatsLast: true) { number in
            guard number == 22 else { return number == 20 ? Self.range("b,SCTE35-OUT=0xFC00", from: 20) : "" }
            let isRepeated = count.withLock { count in
                count += 1
                return count > 1
            }
            return isRepeated ? Self.range("b,DURATION=8", from: 20) : ""
        }
        let playlist = try MediaPlaylist(parsing: Array(temporary.text("media/media.m3u8", of: asset.id).utf8))
        let range = try #require(playlist.dateRanges.first)
        #expect(range.duration == MediaTime(seconds: 8) && range["SCTE35-OUT"] == "0xFC00")
    }

    @Test func dateRangesAreNotRepeatedByALaterRun() async throws {
        let duration: Int64 = 12
        _ = try await record(from: 11, duration: duration, context: Self.breaks)
        let asset = try await record(from: 12, context: Self.breaks)
        let text = try temporary.text("media/media.m3u8", of: asset.id)
        #expect(text.components(separatedBy: "ID=\"b\"").count == 2 && text.contains("DURATION=8\n"))
    }

    private static let variables = "#EXT-X-DEFINE:QUERYPARAM=\"q\"\n"

    @Test func valuesOfVariablesAddNoLines() async throws {
        let query = "?q=x%22%0A%23EXT-X-KEY:METHOD=AES-128,URI=%22k%22%0A%23EXTINF:2,%0D%0Aother.ts%0A%23EXT-FOO:%22"
        let asset = try await record(from: 10, query: query) { _ in
            Self.variables + Self.range("b,X-A=\"{$q}\",X-B={$q}", from: 14)
        }
        let text = try temporary.text("media/media.m3u8", of: asset.id)
        #expect(!text.contains("\n#EXT-X-KEY") && !text.contains("other.ts\n") && !text.contains("\n#EXT-FOO"))
        let playlist = try MediaPlaylist(parsing: Array(text.utf8))
        #expect(playlist.segments.count == 11 && playlist.segments.allSatisfy { $0.keys.isEmpty })
        #expect(playlist.dateRanges.map { $0.attributes.map(\.name) } == [["ID", "START-DATE", "X-A", "X-B"]])
        let result = try temporary.library.verify(asset.id)
        #expect(result.damaged == [] && result.unlisted == [])
    }

    /// The URL of a key or an initialization section identifies its file.
    @Test(arguments: ["#EXT-X-KEY:METHOD=AES-128,URI=\"key{$q}\"\n", "#EXT-X-MAP:URI=\"init{$q}.mp4\"\n"])
    func urlsWithVariablesAreRecordedInOneLine(tag: String) async throws {
        let asset = try await record(from: 10, query: "?q=a%22%0Ab") { _ in Self.variables + tag }
        let segments = try segments(of: asset)
        #expect(segments.count == 11)
        #expect(segments.allSatisfy { !$0.isGap && $0.keys.count == (tag.contains("KEY") ? 1 : 0) })
        #expect(segments.allSatisfy { ($0.map != nil) == tag.contains("MAP") })
        let result = try temporary.library.verify(asset.id)
        #expect(result.damaged == [] && result.unlisted == [])
    }

    @Test func metadataThatIsTooLongIsReportedOnce() async throws {
        let long = String(repeating: "y", count: 17 << 10)
        let count = Mutex(0)
        let asset = try await record(from: 10) { number in
            number == 14 ? Self.range("a,X-A=\"\(long)\"", from: 14) + Self.range("b,X-A=\"short\"", from: 14) : ""
        } report: { event in
            if case .metadataOmitted = event { count.withLock { $0 += 1 } }
        }
        let playlist = try MediaPlaylist(parsing: Array(temporary.text("media/media.m3u8", of: asset.id).utf8))
        #expect(playlist.dateRanges.map(\.id) == ["b"])
        #expect(count.withLock { $0 } == 1)
    }

    @Test func playlistsCountAgainstTheMaximumSize() async throws {
        let text = String(repeating: "y", count: 10_000)
        let error = await #expect(throws: DownloadError.self) {
            try await record(from: 10, limits: DownloadLimits(assetSize: ByteCount(15_000))) { number in
                number == 14 ? Self.range("a,X-A=\"\(text)\"", from: 14) : ""
            }
        }
        #expect(error?.code == .tooLarge)
        // In the catalog and in the local playlist, the range has 20 kB.
        _ = try await record(from: 10, limits: DownloadLimits(assetSize: ByteCount(30_000))) { number in
            number == 14 ? Self.range("a,X-A=\"\(text)\"", from: 14) : ""
        }
        let further = await #expect(throws: DownloadError.self) {
            try await record(from: 30, limits: DownloadLimits(assetSize: ByteCount(20_000))) { _ in "" }
        }
        #expect(further?.code == .tooLarge)
    }

    @Test func segmentsWhoseKeyIsMissingAreGaps() async throws {
        let asset = try await record(from: 10, failures: ["key1": .max], context: Self.rotatingKey)
        #expect(asset.state == .complete && asset.isPlayableOffline)
        let segments = try segments(of: asset)
        #expect(segments.map(\.isGap) == Array(repeating: true, count: 3) + Array(repeating: false, count: 8))
        #expect(segments.last?.keys.count == 1)
        #expect(try temporary.text("media/media.m3u8", of: asset.id).contains("#EXT-X-ENDLIST"))
        #expect(try temporary.library.verify(asset.id).damaged == [])
    }

    /// The key is available again when the recording has ended.
    @Test func missingKeyIsRequestedAtTheEnd() async throws {
        let asset = try await record(from: 10, failures: ["key2": 1], context: { Self.key($0 < 23 ? "key1" : "key2") })
        let segments = try segments(of: asset)
        #expect(!segments.isEmpty && segments.allSatisfy { !$0.isGap && $0.keys.count == 1 })
    }

    @Test func missingKeyIsRequestedAgain() async throws {
        let asset = try await record(from: 10, failures: ["key1": 3], context: Self.rotatingKey)
        let segments = try segments(of: asset)
        #expect(segments.count == 11 && segments.allSatisfy { !$0.isGap && $0.keys.count == 1 })
        #expect(try temporary.library.verify(asset.id).damaged == [])
    }

    @Test func recordingWithoutItsInitializationSectionHasNoMedia() async throws {
        let map = "#EXT-X-MAP:URI=\"init.mp4\"\n"
        await #expect(throws: DownloadError.self) {
            try await record(from: 10, failures: ["init.mp4": .max], context: { _ in map })
        }
        let asset = try await record(from: 30, context: { _ in map })
        #expect(try segments(of: asset).suffix(8).allSatisfy { !$0.isGap && $0.map != nil })
    }

    @Test func continuedRecordingEndsTheFormerKey() async throws {
        let first = try await record(from: 10, duration: 18, context: { _ in Self.key("key1") })
        let former = try segments(of: first)
        let count = former.count
        #expect(count == 5 && former.allSatisfy { $0.keys.count == 1 })
        let asset = try await record(from: 14, context: { _ in "" })
        let segments = try segments(of: asset)
        #expect(segments.map(\.keys.isEmpty) == segments.indices.map { $0 >= count } && segments.count > count)
    }

    @Test func continuedRecordingMayHaveAnotherKey() async throws {
        _ = try await record(from: 10, duration: 18, context: { _ in Self.key("key1") })
        let asset = try await record(from: 14, context: { _ in Self.key("key2") })
        let segments = try segments(of: asset)
        #expect(segments.allSatisfy { $0.keys.count == 1 && !$0.isGap })
        #expect(Set(segments.compactMap { $0.keys.first?.uri }).count == 2)
    }

    /// No tag ends the effect of EXT-X-MAP.
    @Test func segmentsWithoutMapAfterSomeWithOneAreGaps() async throws {
        let map = "#EXT-X-MAP:URI=\"init.mp4\"\n"
        _ = try await record(from: 10, duration: 18, context: { _ in map })
        let lost = Mutex<Int64>(0)
        let asset = try await record(from: 14, context: { number in number < 20 ? "" : map }) { event in
            if case .lost(_, let count) = event { lost.withLock { $0 += count } }
        }
        let segments = try segments(of: asset)
        #expect(segments.filter(\.isGap).count == 2 && lost.withLock { $0 } == 2)
        #expect(segments.allSatisfy { $0.isGap || $0.map != nil } && segments.last?.isGap == false)
        let gaps = segments.filter(\.isGap).reduce(MediaTime.zero) { $0 + $1.duration }
        #expect(try gaps > .zero && temporary.library.omittedContent(of: asset.id).gapDuration == gaps)
        #expect(try temporary.library.verify(asset.id).damaged == [])
    }
}
