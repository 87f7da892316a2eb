import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PresentationLoading
import ResourceAddressing
import Synchronization
import Testing

/// The events in segments, which become date ranges.
struct SegmentEventLoadingTests {
    private static let scheme = "urn:example:events"

    /// A manifest of 12 seconds whose video announces events; its timeline begins at ten seconds of the media.
    private static func manifest(
        _ streams: String = #"<InbandEventStream schemeIdUri="urn:example:events" value="7"/>"#
    )
        -> String
    {
        TestOrigin.manifest(
            """
            <Period><AdaptationSet contentType="video" mimeType="video/mp4">\(streams)
            <SegmentTemplate timescale="10" presentationTimeOffset="100" duration="40" initialization="i.mp4" media="$RepresentationID$/$Number$.m4s"/>
            <Representation id="v1" bandwidth="1000000" codecs="avc1.64001f"/>
            <Representation id="v2" bandwidth="3000000" codecs="avc1.640028"/></AdaptationSet></Period>
            """,
            attributes: #"mediaPresentationDuration="PT12S""#
        )
    }

    private static func segment(_ number: Int, of id: String = "v1") -> String {
        "https://example.test/a/\(id)/\(number).m4s"
    }

    // MARK: Boxes

    private static func word(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func box(_ type: String, _ contents: [UInt8]) -> [UInt8] {
        word(UInt32(contents.count + 8)) + Array(type.utf8) + contents
    }

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

    /// An event message of version 0, whose time is relative to the segment, in tenths of a second.
    private static func message(
        _ id: UInt32,
        after offset: UInt32,
        duration: UInt32 = 20,
        _ message: [UInt8],
        scheme: String = scheme,
        value: String = "7"
    ) -> [UInt8] {
        box(
            "emsg",
            word(0) + text(scheme) + text(value) + word(10) + word(offset) + word(duration) + word(id) + message
        )
    }

    /// An event message of version 1, whose time is on the timeline of the media, in tenths of a second.
    private static func message(_ id: UInt32, at time: UInt32, _ message: [UInt8]) -> [UInt8] {
        box(
            "emsg",
            word(1 << 24) + word(10) + word(0) + word(time) + word(.max) + word(id) + text(scheme) + text("7") + message
        )
    }

    private static let media = box("styp", word(0)) + box("moof", [UInt8](repeating: 0, count: 50))

    private static func origin(
        _ segments: [[UInt8]],
        manifest: String = manifest(),
        configure: (inout PresentationOptions) -> Void = { _ in }
    ) -> TestOrigin {
        let origin = TestOrigin([TestOrigin.address: manifest], configure: configure)
        for (index, bytes) in segments.enumerated() {
            origin.transport.setResponses(for: segment(index + 1), .bytes(bytes))
        }
        return origin
    }

    private static func ranges(_ origin: TestOrigin) async throws -> [DateRange] {
        let variant = try #require(try await origin.multivariant().variants.last)
        return try await origin.media(variant.address.text).dateRanges
    }

    // MARK: Tests

    @Test func messagesBecomeDateRangesOfAllPlaylists() async throws {
        let splice: [UInt8] = [0xFC, 0x30, 0x08, 0, 0, 0, 0, 0, 0, 0, 0]
        let streams = ["urn:example:events", "urn:scte:scte35:2013:bin"].map {
            #"<InbandEventStream schemeIdUri="\#($0)"/>"#
        }
        let origin = Self.origin(
            [
                Self.message(1, after: 5, Array("hello".utf8)) + Self.media,
                // A repetition, an event that is not announced, and one that begins before its segment.
                Self.message(1, after: 0, Array("hello".utf8)) + Self.message(2, after: 0, [], scheme: "urn:other")
                    + Self.message(3, at: 130, [0, 255]) + Self.media,
                Self.message(4, after: 10, splice, scheme: "urn:scte:scte35:2013:bin", value: "") + Self.media,
            ],
            manifest: Self.manifest(streams.joined())
        )
        let ranges = try await Self.ranges(origin)
        #expect(
            ranges.map { $0.startDate?.sinceEpoch } == [
                MediaTime(value: 1, timescale: 2), MediaTime(seconds: 3), MediaTime(seconds: 9),
            ]
        )
        #expect(ranges.map(\.duration) == [MediaTime(seconds: 2), nil, MediaTime(seconds: 2)])
        #expect(ranges[0]["CLASS"] == Self.scheme && ranges[0]["X-VALUE"] == "7")
        #expect(ranges[0]["X-MESSAGE-DATA"] == "hello")
        #expect(ranges[1]["X-MESSAGE-DATA"] == "0x00FF")
        #expect(ranges[2]["SCTE35-CMD"] == "0xFC30080000000000000000")
        // One representation of a set is read, and each of its segments once.
        let requested = origin.transport.requestedAddresses.filter { $0.hasSuffix(".m4s") }
        #expect(Set(requested) == Set((1...3).map { Self.segment($0) }) && requested.count == 3)
        _ = try await Self.ranges(origin)
        #expect(origin.transport.requestedAddresses.filter { $0.hasSuffix(".m4s") }.count == 3)
    }

    @Test func longMessagesNeedASecondRequest() async throws {
        let long = Self.message(1, after: 0, [UInt8](repeating: 65, count: 5_000))
        let origin = Self.origin([long + Self.message(2, after: 1, []) + Self.media, Self.media, Self.media])
        #expect(try await Self.ranges(origin).count == 2)
        let fields = origin.transport.requests.filter { $0.address.text == Self.segment(1) }.map(\.headers)
        #expect(fields.map { $0.first?.value } == ["bytes=0-4095", "bytes=0-65535"])
    }

    @Test func segmentsThatCannotBeReadAreReportedOnce() async throws {
        let problems = Mutex<[String]>([])
        let origin = Self.origin([Self.media, Array("no box".utf8)]) {
            $0.reportProblem = { problem in problems.withLock { $0.append(problem) } }
        }
        #expect(try await Self.ranges(origin).isEmpty)
        #expect(problems.withLock { $0.count } == 1)
    }

    @Test(arguments: ["https://aomedia.org/emsg/ID3", "urn:mpeg:dash:event:2012"])
    func eventsForPlayersStayInTheSegments(_ scheme: String) async throws {
        let origin = Self.origin([], manifest: Self.manifest(#"<InbandEventStream schemeIdUri="\#(scheme)"/>"#))
        #expect(try await Self.ranges(origin).isEmpty)
        #expect(!origin.transport.requestedAddresses.contains { $0.hasSuffix(".m4s") })
    }

    @Test func segmentsAreNotLoadedWhereThePlayerReadsThem() async throws {
        let origin = Self.origin([]) { $0.readsSegmentEvents = false }
        #expect(try await Self.ranges(origin).isEmpty)
        #expect(!origin.transport.requestedAddresses.contains { $0.hasSuffix(".m4s") })
    }

    @Test func loadsAreLimitedAndContinueWithTheNextPlaylists() async throws {
        let streams = #"<InbandEventStream schemeIdUri="urn:example:events"/>"#
        let set = TestOrigin.videoSet.replacing("<SegmentTemplate", with: streams + "<SegmentTemplate")
        let origin = TestOrigin(
            [
                TestOrigin.address: TestOrigin.manifest(
                    #"<Period id="1" start="PT0S">\#(set)</Period>"#,
                    attributes: """
                        type="dynamic" availabilityStartTime="2024-01-01T00:00:00Z" timeShiftBufferDepth="PT20S"
                        """
                )
            ]
        ) { $0.eventLoadCount = 3 }
        for number in 1...200 {
            origin.transport.setResponses(
                for: Self.segment(number),
                .bytes(Self.message(UInt32(number), after: 0, []) + Self.media)
            )
        }
        let address = try #require(try await origin.multivariant().variants.first).address.text
        // The window has five segments; those at the live edge come first.
        #expect(try await origin.media(address).dateRanges.count == 3)
        origin.clock.advance(by: .seconds(1))
        #expect(try await origin.media(address).dateRanges.count == 5)
        let count = origin.transport.requests.count
        origin.clock.advance(by: .seconds(4))
        #expect(try await origin.media(address).dateRanges.count == 5)
        #expect(origin.transport.requests.count == count + 1)
    }
}
