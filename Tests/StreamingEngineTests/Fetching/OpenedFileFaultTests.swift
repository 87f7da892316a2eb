import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import PlaybackReporting
import ResourceAddressing
import SegmentFormat
import Testing

@testable import StreamingEngine

/// Tests of files without media, and of the defaults of requests.
@Suite struct OpenedFileFaultTests {
    @Test func fileThatEndsWithItsIndexIsRefused() async {
        let bytes = FileBytes.wave(600)
        let opener = MediaFileOpener(fetch: FileBytes.fetcher(FileBytes.transport(bytes)))
        let error = await #expect(throws: StreamingError.self) {
            _ = try await opener.open(bytes, at: FileBytes.address, length: 44)
        }
        #expect(error?.code == .invalidFile && error?.address == FileBytes.address)
        #expect(error?.message == "the file ends before its media: only its index is there")
    }

    /// Returns the playlist of a file whose segments have durations in seconds, and 100 bytes each.
    private static func playlist(
        _ durations: [Int64],
        maximumSize: Int = MediaFileOpener.maximumPlaylistSize,
        _ change: (inout MediaFileTimeline) -> Void = { _ in }
    ) throws -> MediaPlaylist {
        var timeline = MediaFileTimeline(container: .isoBaseMedia)
        var start = MediaTime.zero
        for (number, duration) in durations.enumerated() {
            let range = MediaTimeRange(start: start, duration: MediaTime(seconds: duration))
            let bytes = try #require(FileBytes.range(100 + Int64(number) * 100, 100))
            timeline.segments.append(MediaFileSegment(timeRange: range, byteRange: bytes))
            start = range.end
        }
        change(&timeline)
        var opener = MediaFileOpener(fetch: FileBytes.fetcher(ScriptedTransport()))
        opener.maximumPlaylistSize = maximumSize
        return try opener.playlist(of: timeline, at: FileBytes.address)
    }

    @Test func earlierSubtitlesAreNotReadByDefault() throws {
        let playlist = try Self.playlist([10]) { $0.segments[0].earlierSubtitleOffset = 40 }
        #expect(PresentationTimeline(playlist).segments.map(\.byteRange) == [FileBytes.range(100, 100)])
    }

    @Test(arguments: [[4, 10, 3], [10, 4, 3], [3, 4, 10]] as [[Int64]])
    func targetDurationIsThatOfTheLongestSegment(durations: [Int64]) throws {
        let playlist = try Self.playlist(durations)
        #expect(playlist.targetDuration == MediaTime(seconds: 10) && playlist.duration == MediaTime(seconds: 17))
    }

    @Test(arguments: [(1_832, true), (1_831, false)])
    func bytesOfTheIndexAreLimited(limit: Int64, isOpened: Bool) async throws {
        let bytes = FileBytes.wave(1_800)
        let transport = FileBytes.transport(bytes)
        let usual = MediaFileOpener(fetch: FileBytes.fetcher(transport))
        #expect(usual.maximumIndexSize == 268_435_456)
        let opener = MediaFileOpener(fetch: usual.fetch, maximumIndexSize: limit)
        // The rest of the file, 1832 bytes from the 12th one, is loaded at once.
        let head = Array(bytes.prefix(20))
        if isOpened {
            let file = try await opener.open(head, at: FileBytes.address, length: 1_844)
            #expect(file.playlist.segments.count == 3 && transport.requests.count == 1)
        } else {
            let error = await #expect(throws: StreamingError.self) {
                _ = try await opener.open(head, at: FileBytes.address, length: 1_844)
            }
            #expect(error?.code == .unreadableFile && error?.address == FileBytes.address)
            #expect(transport.requests.isEmpty)
        }
    }

    /// Each segment has 100 bytes besides the URL of the file.
    @Test(arguments: [(0, true), (-1, false)])
    func playlistOfAFileIsLimited(difference: Int, isAllowed: Bool) throws {
        let size = 3 * (FileBytes.address.text.utf8.count + 100) + difference
        if isAllowed {
            let playlist = try Self.playlist([6, 6, 6], maximumSize: size)
            #expect(playlist.segments.count == 3)
        } else {
            let error = #expect(throws: StreamingError.self) { _ = try Self.playlist([6, 6, 6], maximumSize: size) }
            #expect(error?.code == .unsupported && error?.message == "the URL is too long for a file of 3 segments")
        }
    }

    @Test func playlistMayComeFromACacheByDefault() async throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\ns.ts\n#EXT-X-ENDLIST\n"
        let transport = FileBytes.transport(Array(text.utf8))
        _ = try await SourceOpener(fetch: FileBytes.fetcher(transport)).open(FileBytes.address)
        #expect(transport.requests.map(\.headers.count) == [0])
    }

    @Test(arguments: [(0, true), (-1, false)])
    func sizeOfAPlaylistIsLimited(difference: Int64, isOpened: Bool) async throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\ns.ts\n#EXT-X-ENDLIST\n"
        let size = ByteCount(Int64(text.utf8.count) + difference)
        let fetch = FileBytes.fetcher(FileBytes.transport(Array(text.utf8)))
        let opener = SourceOpener(fetch: fetch, maximumSize: size)
        if isOpened {
            guard case .playlist = try await opener.open(FileBytes.address).opened else {
                Issue.record("the playlist was not opened")
                return
            }
        } else {
            let error = await #expect(throws: TransportError.self) { _ = try await opener.open(FileBytes.address) }
            #expect(error?.code == .tooLarge && error?.message == "the playlist exceeds the maximum size")
        }
        #expect(SourceOpener(fetch: fetch).maximumSize == ByteCount(268_435_456))
    }

    @Test func partOfAFileThatIsKeptTakesNoTime() async throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-BYTERANGE:3@2\n#EXTINF:6,\nfilm\n#EXT-X-ENDLIST\n"
        let segments = PresentationTimeline(try media(text, at: FileBytes.address.text)).segments
        let segment = try #require(segments.first)
        let loader = SegmentLoader(FileBytes.fetcher(ScriptedTransport())) { _ in }
        await loader.keepFile([1, 2, 3, 4, 5], at: FileBytes.address)
        let fetched = try await loader.load(segment, for: .main, monitor: TransferMonitor()).fetched
        #expect(Array(fetched.bytes.readableBytesView) == [3, 4, 5] && fetched.address == FileBytes.address)
        #expect(fetched.startTime == fetched.endTime && fetched.measurement.isFromCache && !fetched.mayNameFiles)
        #expect(fetched.status == 206 && fetched.contentType == nil)
    }
}
