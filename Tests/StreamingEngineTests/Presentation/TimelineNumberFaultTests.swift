import Adaptation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of limits that are exceeded by a small amount.
@Suite struct TimelineNumberFaultTests {
    private static let root = "https://origin.example/"

    // MARK: Bit rates

    @Test func bitRatesAreLimitedBeforeTheyAreMultiplied() throws {
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=4503599627370496\nv.m3u8\n"
        let presentation = Presentation(try multivariant(text))
        let variant = try #require(presentation.variants.first)
        let chooser = VariantChooser(StreamingOptions())
        #expect(chooser.neededBitRate(of: variant, rate: 1).bitsPerSecond == 1_125_899_906_842_624)
        let segments = "#EXT-X-BITRATE:4503599627370496\n#EXTINF:8,\na.ts\n#EXT-X-ENDLIST\n"
        let timeline = PresentationTimeline(try media("#EXTM3U\n#EXT-X-TARGETDURATION:10\n" + segments))
        let ladder = try #require(Ladder([LadderRung(variantIndex: 0, peakBitRate: BitRate(bitsPerSecond: 1))]))
        let sizes = chooser.sizes(from: timeline.segments[0], in: timeline, of: 0, ladder)
        #expect(sizes.map { $0.map(\.bytes) } == [[1_125_899_906_842_624]])
    }

    @Test func ladderHasTheFirstSixtyFourVariants() throws {
        let lines = (1...65).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0)\n\($0).m3u8\n" }
        var options = StreamingOptions()
        options.initialThroughput = BitRate(bitsPerSecond: 50_000_000)
        var chooser = VariantChooser(options)
        let presentation = Presentation(try multivariant("#EXTM3U\n" + lines.joined()))
        chooser.setPresentation(presentation, selection: MediaSelection())
        #expect(chooser.first(bufferCapacity: .seconds(30))?.peakBitRate?.bitsPerSecond == 64)
        let lowest = try #require(presentation.variants.first)
        #expect(chooser.alternatives(to: lowest).compactMap { $0.peakBitRate?.bitsPerSecond } == Array(2...64))
    }

    // MARK: Times

    /// The missed segments last 0.6 ms longer than thirty days.
    @Test func missedDurationIsExactToTheNanosecond() throws {
        var timeline = PresentationTimeline(try LiveWindowText(duration: "4.000000001").playlist)
        let update = try timeline.update(try LiveWindowText(first: 648_006, duration: "4.000000001").playlist)
        #expect(update.inconsistencies == [.restarted(from: 6, to: 648_006)])
    }

    @Test(arguments: [("10.001", 1), ("10.001000001", 2), ("09.999", 1), ("09.998999999", 2)])
    func dateOfMoreThanAMillisecondOffBeginsAnew(text: String, count: Int) throws {
        var anchors = DateAnchors()
        anchors.append(try #require(ProgramDateTime("2026-03-01T00:00:00Z")), at: 0)
        anchors.append(try #require(ProgramDateTime("2026-03-01T00:00:\(text)Z")), at: 10_000_000_000)
        #expect(anchors.anchors.count == count)
    }

    @Test func emptyTitleIsNoTitle() throws {
        let data = "#EXT-X-SESSION-DATA:DATA-ID=\"com.apple.hls.title\",VALUE="
        let variant = "#EXT-X-STREAM-INF:BANDWIDTH=1\nv\n"
        #expect(Presentation(try multivariant("#EXTM3U\n\(data)\"\"\n\(variant)")).title == nil)
        let second = "\(data)\"\"\n\(data)\"Zwei\",LANGUAGE=\"de\"\n\(data)\"Two\",LANGUAGE=\"en\"\n"
        #expect(Presentation(try multivariant("#EXTM3U\n\(second)\(variant)")).title == "Zwei")
    }

    // MARK: Sizes

    @Test func limitsOfResourcesHaveTheirSizes() {
        #expect(SegmentLoader.maximumCacheSize == 100_663_296 && SegmentLoader.maximumOpenedFileSize == 1_048_576)
        #expect(SegmentLoader.maximumInitializationSize == ByteCount(67_108_864))
        #expect(SegmentLoader.maximumKeySize == ByteCount(65_536))
        #expect(ResourceFetcher.maximumSegmentSize == ByteCount(1_073_741_824))
        #expect(MediaFileOpener.maximumPlaylistSize == 67_108_864)
        let limits = SegmentSizeLimits()
        #expect(limits.main == ByteCount(201_326_592) && limits.audio == ByteCount(50_331_648))
        #expect(limits.subtitles == ByteCount(16_777_216))
    }

    /// The document of the threats names these sizes.
    @Test func memoriesOfTheEngineHaveTheirSizes() {
        #expect(SegmentLoader.maximumCacheSize == 100_663_296 && SegmentLoader.maximumCacheCount == 256)
        #expect(PlaylistFollower.maximumTimelineBytes == 67_108_864 && PlaylistFollower.maximumTimelineCount == 64)
        let options = StreamingOptions()
        #expect(options.backBufferByteLimit == ByteCount(67_108_864))
        #expect(options.bufferByteLimit == ByteCount(268_435_456))
    }

    @Test func keyOfSixtyFourKibibytesIsLoadedToTellItsSize() async throws {
        func failure(_ size: Int) async throws -> SegmentLoader.Failure? {
            let transport = ScriptedTransport([
                Self.root + "a": [.text("media")],
                Self.root + "key": [.bytes([UInt8](repeating: 1, count: size))],
            ])
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n#EXTINF:6,\na\n"
            let segments = PresentationTimeline(try media(text, at: Self.root + "p")).segments
            let segment = try #require(segments.first)
            let loader = SegmentLoader(FileBytes.fetcher(transport)) { _ in }
            return await #expect(throws: SegmentLoader.Failure.self) {
                _ = try await loader.load(segment, for: .main, monitor: TransferMonitor())
            }
        }
        guard case .decryption = try await failure(65_536) else {
            Issue.record("the key was not loaded")
            return
        }
        guard case .transport(let error, .contentKey) = try await failure(65_537) else {
            Issue.record("the key was loaded")
            return
        }
        #expect(error.code == .tooLarge)
    }

    /// The oldest of 257 sections is removed.
    @Test func twoHundredFiftySixInitializationSectionsAreCached() async throws {
        let numbers = Array(0..<257) + [1, 0]
        var responses: [String: [ScriptedTransport.Response]] = [Self.root + "a": [.text("media")]]
        for number in 0..<257 { responses[Self.root + "i\(number)"] = [.text("\(number)")] }
        let transport = ScriptedTransport(responses)
        let loader = SegmentLoader(FileBytes.fetcher(transport)) { _ in }
        let lines = numbers.map { "#EXT-X-MAP:URI=\"i\($0)\"\n#EXTINF:6,\na\n" }
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n" + lines.joined()
        for segment in PresentationTimeline(try media(text, at: Self.root + "p")).segments {
            _ = try await loader.load(segment, for: .main, monitor: TransferMonitor())
        }
        let asked = transport.requestedAddresses.filter { $0.hasPrefix(Self.root + "i") }
        #expect(asked.count == 258 && asked.last == Self.root + "i0")
    }

    @Test(arguments: TrackKind.allCases)
    func segmentsOfSubtitlesAreRequestedAsSuch(track: TrackKind) async throws {
        let transport = ScriptedTransport([Self.root + "a": [.text("media")]])
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na\n"
        let segments = PresentationTimeline(try media(text, at: Self.root + "p")).segments
        let loader = SegmentLoader(FileBytes.fetcher(transport)) { _ in }
        let segment = try #require(segments.first)
        _ = try await loader.load(segment, for: track, monitor: TransferMonitor())
        #expect(transport.requests.map(\.kind) == [track == .subtitles ? .subtitle : .segment])
    }
}
