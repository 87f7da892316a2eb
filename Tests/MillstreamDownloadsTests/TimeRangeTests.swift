import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Synchronization
import Testing

/// Tests of downloads of a time range.
@Suite struct TimeRangeTests {
    private let temporary: TemporaryLibrary
    private static let root = "https://origin.example/"

    init() throws { temporary = try TemporaryLibrary() }

    /// An origin with ten segments of 4 seconds for video and audio, and subtitles that end after 8 seconds.
    private final class Origin: Sendable {
        private let state = Mutex<[String]>([])

        /// The names of the requested segments.
        var segments: [String] { state.withLock { $0.filter { $0.hasSuffix("ts") || $0.hasSuffix("aac") } } }

        func takeRequests() -> [String] {
            state.withLock { requests in
                defer { requests = [] }
                return requests
            }
        }

        func resource(_ address: String) -> SyntheticOrigin.Resource? {
            let name = String(address.dropFirst(TimeRangeTests.root.count).prefix { $0 != "?" })
            state.withLock { $0.append(name) }
            switch name {
            case "main.m3u8":
                return .text(
                    """
                    #EXTM3U
                    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",DEFAULT=YES,URI="audio.m3u8"
                    #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",LANGUAGE="en",URI="text.m3u8"
                    #EXT-X-STREAM-INF:BANDWIDTH=500000,AUDIO="a",SUBTITLES="s"
                    video.m3u8

                    """
                )
            case "video.m3u8":
                let segments = (0..<10).map { "#EXTINF:4,\n\($0).ts?t=\(UUID())\n" }.joined()
                return .text(
                    """
                    #EXTM3U
                    #EXT-X-TARGETDURATION:4
                    #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z
                    #EXT-X-KEY:METHOD=AES-128,URI="key"
                    \(segments)#EXT-X-ENDLIST

                    """
                )
            case "audio.m3u8":
                // The segments are parts of one file.
                let segments = (0..<10).map { "#EXTINF:4,\n#EXT-X-BYTERANGE:10@\($0 * 10)\nall.aac\n" }.joined()
                return .text("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(segments)#EXT-X-ENDLIST\n")
            case "text.m3u8":
                return .text("#EXTM3U\n#EXT-X-TARGETDURATION:8\n#EXTINF:8,\nsub.vtt\n#EXT-X-ENDLIST\n")
            case "key": return .bytes(Array(repeating: 7, count: 16))
            case "sub.vtt": return .text("WEBVTT\n")
            case "all.aac": return .bytes((0..<100).map { UInt8($0) })
            default: return .bytes(Array("media of \(name)".utf8))
            }
        }
    }

    private func download(
        _ origin: Origin,
        _ range: PartialRange<MediaTime>?,
        replaces: Bool = false
    ) async throws -> StoredAsset {
        let transport = SyntheticOrigin(time: SystemTimeSource()) { address, _ in origin.resource(address) }
        var selection = DownloadSelection()
        selection.timeRange = range
        var configuration = DownloadConfiguration(selection: selection)
        configuration.replacesStoredSegments = replaces
        return try await AssetDownload(
            ResourceAddress(Self.root + "main.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(transport),
            configuration: configuration
        ).run()
    }

    @Test func onlyTheSegmentsOfTheRangeAreStored() async throws {
        let origin = Origin()
        let asset = try await download(origin, PartialRange("13...21"))
        #expect(asset.state == .complete)
        #expect(asset.duration == MediaTime(seconds: 12))
        #expect(origin.segments.filter { $0.hasSuffix("ts") }.sorted() == ["3.ts", "4.ts", "5.ts"])
        // The subtitles have ended before the range.
        #expect(asset.renditions.map(\.role) == [.variant, .audio])
        let playlist = try temporary.text("variant-0/media.m3u8", of: asset.id)
        #expect(playlist.contains("#EXT-X-MEDIA-SEQUENCE:3\n"))
        #expect(playlist.contains("#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:12"))
        #expect(playlist.contains("#EXT-X-KEY:METHOD=AES-128,URI=\"key-"))
        #expect(playlist.hasSuffix("#EXT-X-ENDLIST\n"))
        #expect(try temporary.text("variant-0/000004.ts", of: asset.id) == "media of 4.ts")
        let path = temporary.library.packageDirectory(asset.id).appendingPathComponent("audio-0/000003.aac")
        #expect(try Data(contentsOf: path) == Data((30..<40).map { UInt8($0) }))
    }

    @Test func aLargerRangeFetchesOnlyTheOtherSegments() async throws {
        let origin = Origin()
        let first = try await download(origin, PartialRange("13...21"))
        _ = origin.takeRequests()
        let second = try await download(origin, PartialRange("5...29"))
        #expect(second.id == first.id)
        #expect(second.state == .complete)
        #expect(second.duration == MediaTime(seconds: 28))
        #expect(origin.segments.filter { $0.hasSuffix("ts") }.sorted() == ["1.ts", "2.ts", "6.ts", "7.ts"])
        #expect(origin.segments.count { $0.hasSuffix("aac") } == 4)
        _ = origin.takeRequests()
        let all = try await download(origin, nil)
        #expect(all.duration == MediaTime(seconds: 40))
        #expect(origin.segments.filter { $0.hasSuffix("ts") }.sorted() == ["0.ts", "8.ts", "9.ts"])
        for number in 0..<10 {
            #expect(try temporary.text("variant-0/00000\(number).ts", of: all.id) == "media of \(number).ts")
        }
        #expect(try temporary.library.verify(all.id).damaged == [])
    }

    @Test(arguments: ["5...9", "30...36"])
    func storedSegmentsAreDeletedOnlyOnRequest(range: String) async throws {
        let first = try await download(Origin(), PartialRange("13...29"))
        let before = try temporary.text("variant-0/media.m3u8", of: first.id)
        let error = try await #require(throws: DownloadError.self) {
            try await download(Origin(), PartialRange(range))
        }
        #expect(error.detail == "would-delete" && error.hint?.contains("--replace") == true)
        let after = try temporary.library.asset(first.id)
        #expect(after.state == .complete && after.duration == first.duration)
        #expect(try temporary.text("variant-0/media.m3u8", of: first.id) == before)
        let replaced = try await download(Origin(), PartialRange(range), replaces: true)
        #expect(replaced.id == first.id && replaced.state == .complete)
        #expect(try temporary.library.verify(first.id).damaged == [])
    }

    @Test func aRangeAfterTheEndIsRefused() async throws {
        let error = await #expect(throws: DownloadError.self) { try await download(Origin(), PartialRange("50...60")) }
        #expect(error?.code == .nothingSelected)
        #expect(error?.hint?.contains("40 s") == true)
    }

    @Test func theRangeIsStoredWithTheSelection() throws {
        var selection = DownloadSelection()
        for text in ["1:30...", "...2:00", "90...120.5"] {
            selection.timeRange = PartialRange<MediaTime>(text)
            #expect(selection.timeRange != nil)
            #expect(DownloadSelection(selection.description) == selection)
        }
    }
}
