import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import SegmentFormat
import Testing

@testable import StreamingEngine

/// Files in memory from which tests read.
enum FileBytes {
    static let address = ResourceAddress("https://origin.example/film")

    static func little(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }

    static func big(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }

    static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        big(UInt64(8 + content.count), 4) + Array(type.utf8) + content
    }

    /// Returns a wave file of 100 bytes a second.
    ///
    /// - Parameters:
    ///   - count: The number of samples of one byte in the file.
    ///   - declared: The number of samples that the header declares; `nil` for the number in the file.
    /// - Returns: A header of 44 bytes, and the samples.
    static func wave(_ count: Int, declared: Int? = nil) -> [UInt8] {
        let length = declared ?? count
        var bytes = Array("RIFF".utf8) + little(36 + length) + Array("WAVEfmt ".utf8) + little(16)
        bytes += [1, 0, 1, 0] + little(100) + little(100)
        bytes += [1, 0, 8, 0] + Array("data".utf8) + little(length)
        return bytes + [UInt8](repeating: 128, count: count)
    }

    /// Returns a movie without tracks whose header declares a duration in seconds.
    static func movie(seconds: UInt64) -> [UInt8] {
        var header: [UInt8] = [1, 0, 0, 0] + big(0, 16)
        header += big(1, 4) + big(seconds, 8) + big(0, 80)
        return box("ftyp", Array("isom".utf8) + big(0, 4)) + box("moov", box("mvhd", header))
    }

    /// Returns a fetcher that receives the given responses, without retries.
    static func fetcher(_ transport: any Transport) -> ResourceFetcher {
        let policy = RecoveryPolicy(retries: 0)
        return ResourceFetcher(
            loader: ResourceLoader(transport, policy: policy, jitter: { 0 }),
            time: SystemTimeSource()
        )
    }

    /// Returns a transport whose only resource has the given bytes.
    static func transport(_ bytes: [UInt8]) -> ScriptedTransport { ScriptedTransport([address.text: [.bytes(bytes)]]) }

    static func range(_ start: Int64, _ length: Int64) -> ByteRange? { ByteRange(start: start, length: length) }
}

/// Tests of the playlists that represent media files, and of the errors of files.
@Suite struct MediaFileFaultTests {
    private func open(_ bytes: [UInt8], length: Int64?) async throws -> OpenedFile {
        let opener = MediaFileOpener(fetch: FileBytes.fetcher(FileBytes.transport(bytes)))
        return try await opener.open(bytes, at: FileBytes.address, length: length)
    }

    private func error(_ bytes: [UInt8], length: Int64?) async -> StreamingError? {
        await #expect(throws: StreamingError.self) { _ = try await open(bytes, length: length) }
    }

    // MARK: Playlists

    @Test func playlistOfAFileHasItsByteRanges() async throws {
        let file = try await open(FileBytes.wave(1_800), length: 1_844)
        let playlist = file.playlist
        #expect(playlist.version == 6 && playlist.playlistType == .vod && playlist.hasEndMarker)
        #expect(playlist.targetDuration == MediaTime(seconds: 6))
        let segments = Array(PresentationTimeline(playlist).segments)
        #expect(segments.map(\.byteRange) == [44, 644, 1_244].map { FileBytes.range($0, 600) })
        #expect(segments.map(\.start) == [0, 6, 12].map { MediaTime(seconds: $0) })
        #expect(segments.allSatisfy { $0.address == FileBytes.address })
        #expect(segments.allSatisfy { $0.initialization?.address == FileBytes.address })
        #expect(segments.allSatisfy { $0.initialization?.byteRange == FileBytes.range(0, 44) })
        #expect(file.container == .wave && file.tracks.map(\.codec) == ["pcm"] && !file.beginsWithinFrames)
        #expect(file.shortfall == nil && file.problem == nil)
    }

    @Test(arguments: [(50, 1), (100, 1), (101, 2), (700, 7), (750, 8)])
    func targetDurationIsThatOfTheLongestSegmentInWholeSeconds(count: Int, target: Int64) async throws {
        let file = try await open(FileBytes.wave(count), length: Int64(count + 44))
        #expect(file.playlist.targetDuration == MediaTime(seconds: target))
    }

    private func opener() -> MediaFileOpener { MediaFileOpener(fetch: FileBytes.fetcher(ScriptedTransport())) }

    @Test func targetDurationIsAtLeastASecond() throws {
        let timeline = try Self.timeline([(0, 0, 0, 10)])
        let playlist = try opener().playlist(of: timeline, at: FileBytes.address)
        #expect(playlist.targetDuration == MediaTime(seconds: 1) && playlist.segments.count == 1)
        // Without a range of its own, no initialization section is listed.
        #expect(PresentationTimeline(playlist).segments.first?.initialization == nil)
    }

    /// Text of the first segment is in progress at the start of the second one.
    @Test(arguments: [false, true]) func segmentsReachBackToSubtitlesInProgress(readsEarlier: Bool) throws {
        var timeline = try Self.timeline([(0, 10, 0, 100), (10, 20, 100, 100)])
        timeline.segments[1].earlierSubtitleOffset = 40
        var opener = self.opener()
        opener.readsEarlierSubtitles = readsEarlier
        let segments = Array(PresentationTimeline(try opener.playlist(of: timeline, at: FileBytes.address)).segments)
        let second = readsEarlier ? FileBytes.range(40, 160) : FileBytes.range(100, 100)
        #expect(segments.map(\.byteRange) == [FileBytes.range(0, 100), second])
        let read = try #require(FileBytes.range(40, 160))
        #expect(MediaFileOpener.earlierLengths(in: timeline) == [read: 60])
    }

    @Test func playlistIsRefusedIfTheAddressIsTooLongForTheSegments() throws {
        let timeline = try Self.timeline((Int64(0)..<64).map { (start: $0, end: $0 + 1, byte: $0, count: 1) })
        let address = ResourceAddress("https://origin.example/" + String(repeating: "x", count: 1 << 20))
        let error = #expect(throws: StreamingError.self) { _ = try opener().playlist(of: timeline, at: address) }
        #expect(error?.code == .unsupported && error?.address == address)
        #expect(error?.message == "the URL is too long for a file of 64 segments")
    }

    @Test func partsOfTheIndexAreRequested() async throws {
        let bytes = FileBytes.wave(1_800)
        let transport = FileBytes.transport(bytes)
        let opener = MediaFileOpener(fetch: FileBytes.fetcher(transport))
        let file = try await opener.open(Array(bytes.prefix(20)), at: FileBytes.address, length: 1_844)
        #expect(file.playlist.segments.count == 3)
        #expect(transport.requests.map(\.byteRange) == [FileBytes.range(12, 1_832)])
        #expect(transport.requests.map(\.kind) == [.other])
    }

    // MARK: Errors

    @Test func contentThatIsNoMediaIsNotRecognized() async {
        let error = await error(Array("some text".utf8), length: 9)
        #expect(error?.code == .notRecognized && error?.address == FileBytes.address)
    }

    @Test func fileWithoutAMovieBoxIsRefused() async {
        let start = FileBytes.box("ftyp", Array("isom".utf8) + FileBytes.big(0, 4))
        let missing = await error(start, length: Int64(start.count))
        #expect(missing?.code == .invalidFile && missing?.message.contains("open the playlist of the stream") == true)
        let cut = start + FileBytes.big(5_000, 4) + Array("mdat".utf8) + FileBytes.big(0, 24)
        let truncated = await error(cut, length: Int64(cut.count))
        #expect(truncated?.code == .incompleteFile && truncated?.message.contains("ends early: its index") == true)
    }

    @Test(
        arguments: [
            (.truncated("moov"), .incompleteFile, "is missing or incomplete"),
            (.unfinished("moov"), .incompleteFile, "because its recording did not finish"),
            (.missing("moov"), .invalidFile, "if it is a segment of a stream"),
        ] as [(MediaFormatError, StreamingError.Code, String)]
    )
    func errorOfTheMovieBoxIsTheErrorOfTheFile(cause: MediaFormatError, code: StreamingError.Code, text: String) {
        let error = #expect(throws: StreamingError.self) {
            try MediaFileOpener.verifyHasMovie(cause, at: FileBytes.address)
        }
        #expect(error?.code == code && error?.message.contains(text) == true && error?.address == FileBytes.address)
        #expect(error?.cause as? MediaFormatError == cause)
    }

    @Test(
        arguments: [
            .truncated("mdat"), .unfinished("mdat"), .missing("mdat"), .malformed("moov"), .tooLarge("moov"),
        ] as [MediaFormatError]
    )
    func errorsOfOtherBoxesAreNotThoseOfTheFile(error: MediaFormatError) {
        #expect(throws: Never.self) { try MediaFileOpener.verifyHasMovie(error, at: FileBytes.address) }
    }

    @Test func fileOfUnknownLengthWithoutSegmentsIsRefused() async {
        let empty = await error(FileBytes.wave(100), length: nil)
        #expect(empty?.code == .invalidFile && empty?.message == "the file contains no media" && empty?.cause == nil)
        let bytes = Array("RIFF".utf8) + FileBytes.little(136) + Array("WAVEdata".utf8) + FileBytes.little(100)
        let damaged = await error(bytes + [UInt8](repeating: 0, count: 100), length: nil)
        #expect(damaged?.message == "the file contains no playable media: fmt is missing")
        #expect(damaged?.code == .invalidFile && damaged?.cause as? MediaFormatError == .missing("fmt"))
    }

    @Test func durationOfASegmentIsABillionSecondsAtMost() async throws {
        let longest = FileBytes.movie(seconds: 1_000_000_000)
        let file = try await open(longest, length: Int64(longest.count))
        #expect(file.playlist.duration == MediaTime(seconds: 1_000_000_000))
        let longer = FileBytes.movie(seconds: 1_000_000_001)
        let error = await error(longer, length: Int64(longer.count))
        #expect(error?.code == .invalidFile && error?.message.contains("a duration of more than 1000000000") == true)
    }

    @Test func boxOfAnInvalidSizeIsAProblemOfTheFile() async throws {
        let movie = FileBytes.movie(seconds: 5)
        let bytes = movie + FileBytes.big(4, 4) + Array("free".utf8)
        let file = try await open(bytes, length: Int64(bytes.count))
        #expect(file.shortfall == nil && file.problem == "the box at byte \(movie.count) has an invalid size")
    }

    // MARK: Missing media

    private static func timeline(
        _ segments: [(start: Int64, end: Int64, byte: Int64, count: Int64)]
    ) throws -> MediaFileTimeline {
        var timeline = MediaFileTimeline(container: .isoBaseMedia)
        timeline.segments = try segments.map { segment in
            MediaFileSegment(
                timeRange: MediaTimeRange(
                    start: MediaTime(seconds: segment.start),
                    end: MediaTime(seconds: segment.end)
                ),
                byteRange: try #require(ByteRange(start: segment.byte, length: segment.count))
            )
        }
        return timeline
    }

    /// Three segments of ten seconds and 100 bytes each, of a file that ends early.
    @Test(
        arguments: [
            (nil, 3, "30", nil), (300, 3, "30", nil), (301, 3, "30", nil), (299, 3, "29.9", 1), (250, 3, "25", 50),
            (201, 3, "20.1", 99), (200, 2, "20", 100), (199, 2, "19.9", 101), (100, 1, "10", 200), (1, 1, "0.1", 299),
        ] as [(Int64?, Int, String, Int64?)]
    )
    func segmentInWhichAFileEndsIsShortened(length: Int64?, count: Int, end: String, missing: Int64?) throws {
        var timeline = try Self.timeline([(0, 10, 0, 100), (10, 20, 100, 100), (20, 30, 200, 100)])
        let shortfall = MediaFileOpener.removeMissingMedia(from: &timeline, length: length)
        #expect(timeline.segments.count == count && timeline.segments.last?.timeRange.end == seconds(end))
        #expect(timeline.segments.last?.byteRange.end == min(300, length ?? 300))
        #expect(shortfall?.length == missing)
        #expect(shortfall == nil || shortfall?.availableDuration == seconds(end))
        #expect(shortfall == nil || shortfall?.declaredDuration == MediaTime(seconds: 30))
        #expect(shortfall == nil || shortfall?.accuracy == .exact)
    }

    @Test func segmentOfLessThanATenthOfASecondIsNotPlayedUnlessItIsTheOnlyOne() throws {
        var timeline = try Self.timeline([(0, 5, 0, 100), (5, 10, 100, 100)])
        let shortfall = MediaFileOpener.removeMissingMedia(from: &timeline, length: 101)
        #expect(timeline.segments.map(\.byteRange.end) == [100])
        #expect(shortfall?.availableDuration == MediaTime(seconds: 5) && shortfall?.length == 99)
        timeline = try Self.timeline([(0, 5, 0, 100), (5, 24, 100, 200)])
        _ = MediaFileOpener.removeMissingMedia(from: &timeline, length: 101)
        #expect(timeline.segments.map(\.byteRange.end) == [100])
        timeline = try Self.timeline([(0, 5, 0, 100), (5, 10, 100, 100)])
        _ = MediaFileOpener.removeMissingMedia(from: &timeline, length: 1)
        #expect(timeline.segments.map(\.timeRange.end) == [seconds("0.05")])
    }

    @Test func fileThatHasOnlyItsIndexHasNoSegments() throws {
        var timeline = try Self.timeline([(0, 5, 100, 100), (5, 10, 200, 100)])
        timeline.missingLengthAccuracy = .estimated
        let shortfall = MediaFileOpener.removeMissingMedia(from: &timeline, length: 100)
        #expect(timeline.segments.isEmpty && shortfall?.availableDuration == .zero && shortfall?.length == 200)
        #expect(shortfall?.accuracy == .estimated)
    }

    @Test func fileThatEndsEarlyHasAShortfall() async throws {
        let file = try await open(FileBytes.wave(1_800, declared: 3_600), length: 1_844)
        let shortfall = try #require(file.shortfall)
        #expect(shortfall.length == 1_800 && shortfall.accuracy == .exact)
        #expect(shortfall.availableDuration == MediaTime(seconds: 18))
        #expect(shortfall.declaredDuration == MediaTime(seconds: 36))
        #expect(file.playlist.segments.count == 3 && file.playlist.duration == MediaTime(seconds: 18))
        let error = shortfall.error(at: FileBytes.address)
        #expect(error.code == .incompleteFile && error.address == FileBytes.address)
        #expect(
            error.message
                == "the file ends early: it has about 18.0 of 36.0 s, and its last 1.80 kB are missing"
        )
    }

    @Test(
        arguments: [
            (.estimated, "12.36", "60", "it has about 12.4 of 60.0 s, and about 5 bytes are missing at its end"),
            (.minimum, "12.34", "60", "it has about 12.3 s, and at least 5 bytes are missing at its end"),
            (.exact, "0", "0", "its last 5 bytes are missing"),
            (.exact, "0", "0.01", "it has about 0.0 of 0.0 s, and its last 5 bytes"),
        ] as [(MediaFileTimeline.MissingLengthAccuracy, String, String, String)]
    )
    func errorOfAShortfallTellsTheDurations(
        accuracy: MediaFileTimeline.MissingLengthAccuracy,
        available: String,
        declared: String,
        text: String
    ) {
        let shortfall = OpenedFile.Shortfall(
            length: 5,
            accuracy: accuracy,
            availableDuration: seconds(available),
            declaredDuration: seconds(declared)
        )
        let message = shortfall.error(at: FileBytes.address).message
        #expect(message.hasPrefix("the file ends early: \(text)"), "\(message)")
    }
}
