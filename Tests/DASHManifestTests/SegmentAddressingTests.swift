import DASHManifest
import MediaTiming
import ResourceAddressing
import SharedCorpus
import Testing

/// Returns the addresses of the first representation of the first period.
func firstAddressing(_ presentation: MediaPresentation) throws -> SegmentAddressing {
    let period = try #require(presentation.periods.first)
    let set = try #require(period.adaptationSets.first)
    let representation = try #require(set.representations.first)
    return SegmentAddressing(of: representation, in: set, of: period, in: presentation)
}

extension SegmentAddressing {
    /// The segments, of which there are few in a test.
    var segments: [AddressedSegment] { (0..<min(count, 10_000)).compactMap { segment(at: $0) } }
}

struct SegmentAddressingTests {
    private static let address = "https://example.test/a/"

    private func addressing(
        _ information: String,
        outer: String = "",
        duration: String = #"mediaPresentationDuration="PT10S""#,
        representation: String = #"id="r1" bandwidth="2000""#
    ) throws -> SegmentAddressing {
        let presentation = try parsePeriod(
            "\(outer)<AdaptationSet><Representation \(representation)>\(information)</Representation></AdaptationSet>",
            attributes: duration
        )
        return try firstAddressing(presentation)
    }

    @Test(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
    func segmentsOfConstantDurationEndWithTheShorterRest() throws {
        let bytes = try SharedCorpus.bytes("corpus/dash/seed/bbb_30fps.mpd")
        let presentation = try MediaPresentation(
            parsing: bytes.span,
            address: ResourceAddress("https://example.test/a/bbb.mpd")
        )
        let period = presentation.periods[0]
        let set = period.adaptationSets[0]
        #expect(set.representations.count == 4)
        for representation in set.representations {
            let id = try #require(representation.id)
            let addressing = SegmentAddressing(of: representation, in: set, of: period, in: presentation)
            let segments = addressing.segments
            #expect(segments.count == 159)
            #expect(segments.dropLast().allSatisfy { $0.duration == 4 })
            #expect(segments.last?.duration == MediaTime(value: 2_566, timescale: 1_000))
            #expect(segments.first?.number == 1)
            #expect(segments.first?.resource.address.text == "https://example.test/a/\(id)/\(id)_1.m4v")
            #expect(segments.last?.resource.address.text == "https://example.test/a/\(id)/\(id)_159.m4v")
            #expect(addressing.initialization?.address.text == "https://example.test/a/\(id)/\(id)_0.m4v")
        }
    }

    @Test func timelineGivesTimesAndNumbers() throws {
        let addressing = try addressing(
            """
            <SegmentTemplate timescale="10" presentationTimeOffset="1000" startNumber="7" media="$Number%04d$-$Time$.m4s">
            <SegmentTimeline><S t="1000" d="20" r="1"/><S d="10"/><S t="1060" d="15"/><S t="1075" d="5" n="90"/>
            </SegmentTimeline></SegmentTemplate>
            """
        )
        let segments = addressing.segments
        #expect(segments.map(\.number) == [7, 8, 9, 10, 90])
        #expect(segments.map(\.start) == [0, 2, 4, 6, MediaTime(value: 15, timescale: 2)])
        #expect(
            segments.map { $0.resource.address.text }
                == [
                    "0007-1000.m4s", "0008-1020.m4s", "0009-1040.m4s", "0010-1060.m4s", "0090-1075.m4s",
                ].map { Self.address + $0 }
        )
        #expect(segments.map(\.time) == [1_000, 1_020, 1_040, 1_060, 1_075])
    }

    @Test func openRepeatEndsAtTheNextEntryOrThePeriod() throws {
        let addressing = try addressing(
            """
            <SegmentTemplate media="$Time$"><SegmentTimeline><S t="0" d="2" r="-1"/><S t="5" d="3" r="-1"/>
            </SegmentTimeline></SegmentTemplate>
            """
        )
        #expect(addressing.segments.map(\.time) == [0, 2, 4, 5, 8])
        // The third segment ends where the next entry begins, and a timeline is not cut by the period.
        #expect(addressing.segments.map(\.duration) == [2, 2, 1, 3, 3])
        #expect(!addressing.isUnbounded)
    }

    @Test func segmentsOutsideThePeriodAreLeftOut() throws {
        let addressing = try addressing(
            """
            <SegmentTemplate presentationTimeOffset="100" media="$Number$"><SegmentTimeline><S t="92" d="4" r="9"/>
            </SegmentTimeline></SegmentTemplate>
            """
        )
        #expect(addressing.segments.map(\.time) == [100, 104, 108])
        #expect(addressing.segments.map(\.number) == [3, 4, 5])
    }

    @Test func overlappingEntriesEndWhereTheNextBegins() throws {
        let addressing = try addressing(
            """
            <SegmentTemplate media="$Number$"><SegmentTimeline><S t="0" d="4" r="1"/><S t="6" d="2"/>
            </SegmentTimeline></SegmentTemplate>
            """
        )
        #expect(addressing.segments.map(\.start) == [0, 4, 6])
        #expect(addressing.segments.map(\.duration) == [4, 2, 2])
        #expect(addressing.segments.map(\.number) == [1, 2, 3])
    }

    @Test func endNumberEndsTemplatesOfBothForms() throws {
        let timeline = #"<SegmentTimeline><S t="0" d="1" r="8"/></SegmentTimeline>"#
        let attributes = [
            #"<SegmentTemplate media="$Number$" startNumber="3" endNumber="5">\#(timeline)</SegmentTemplate>"#,
            #"<SegmentTemplate media="$Number$" startNumber="3" endNumber="5" duration="1"/>"#,
        ]
        for information in attributes {
            #expect(try addressing(information).segments.map(\.number) == [3, 4, 5])
        }
    }

    /// The first segment begins 2 seconds before the period, which has 10 seconds.
    @Test(
        arguments: [(-2, [-2, 2, 6]), (1, [1, 5, 9]), (0, [0, 4, 8]), (-9, [-4, 0, 4, 8]), (20, [])] as [(Int, [Int64])]
    )
    func differenceOfTheFirstSegmentMovesAll(_ difference: Int, _ starts: [Int64]) throws {
        let segments = try addressing(
            #"""
            <SegmentTemplate duration="4" presentationTimeOffset="18" eptDelta="\#(difference)" media="$Time$-$Number$"/>
            """#
        ).segments
        #expect(segments.map(\.start) == starts.map { MediaTime(seconds: $0) })
        #expect(
            segments.map(\.time) == starts.map { $0 + 18 }
                && segments.map(\.number) == starts.indices.map { Int64($0) + 1 }
        )
    }

    @Test(arguments: [
        (#"t="9223372036854775807""#, ""), (#"t="17000000000000000000""#, ""),
        ("", #"presentationTimeOffset="17000000000000000000""#),
    ])
    func timesThatDoNotFitAreAFault(_ time: String, _ offset: String) throws {
        let found = try addressing(
            "<SegmentTemplate \(offset) media='$Time$'><SegmentTimeline><S \(time) d='4' r='4'/></SegmentTimeline></SegmentTemplate>"
        )
        #expect(found.fault == .excessiveTime && found.count == 0)
    }

    @Test func sequencesHaveSubNumbers() throws {
        let addressing = try addressing(
            """
            <SegmentTemplate media="$Number$-$SubNumber$"><SegmentTimeline><S t="0" d="4" k="2" r="1"/></SegmentTimeline>
            </SegmentTemplate>
            """
        )
        #expect(addressing.segments.map(\.start) == [0, 2, 4, 6])
        #expect(addressing.segments.map { $0.resource.address.lastPathComponent } == ["1-1", "1-2", "2-1", "2-2"])
    }

    @Test func innermostLevelDeterminesKindAndInheritsTheRest() throws {
        let addressing = try addressing(
            #"<SegmentTemplate media="$RepresentationID$/$Bandwidth$/$Number$" startNumber="5"/>"#,
            outer: #"<SegmentTemplate timescale="10" duration="50" initialization="$RepresentationID$.mp4"/>"#
        )
        #expect(
            addressing.segments.map { $0.resource.address.text }
                == ["r1/2000/5", "r1/2000/6"].map { Self.address + $0 }
        )
        #expect(addressing.initialization?.address.text == "\(Self.address)r1.mp4")

        let list = try self.addressing(
            #"<SegmentList duration="5"><SegmentURL media="one"/><SegmentURL mediaRange="5-9"/></SegmentList>"#,
            outer: #"<SegmentTemplate media="$Number$" duration="1" startNumber="9"/>"#
        )
        #expect(
            list.segments.map(\.resource) == [
                AddressedResource(address: ResourceAddress("\(Self.address)one")),
                AddressedResource(
                    address: ResourceAddress("https://example.test/a/manifest.mpd?token=1"),
                    byteRange: ByteRange(start: 5, length: 5)
                ),
            ]
        )
        #expect(list.segments.map(\.number) == [1, 2])
    }

    @Test func segmentListIsNoLongerThanItsAddresses() throws {
        let addressing = try addressing(
            #"<SegmentList duration="1"><SegmentURL media="one"/><SegmentURL media="two"/></SegmentList>"#
        )
        #expect(addressing.segments.map { $0.resource.address.lastPathComponent } == ["one", "two"])
    }

    @Test func indexedFileIsAddressedOnceItsIndexIsKnown() throws {
        var addressing = try addressing(
            #"<BaseURL>v.mp4</BaseURL><SegmentBase timescale="10" presentationTimeOffset="20" indexRange="100-199"/>"#
        )
        let file = ResourceAddress("\(Self.address)v.mp4")
        #expect(addressing.index == AddressedResource(address: file, byteRange: ByteRange(start: 100, length: 100)))
        #expect(
            addressing.initialization == AddressedResource(address: file, byteRange: ByteRange(start: 0, length: 100))
        )
        #expect(addressing.needsIndex)
        #expect(addressing.count == 0)
        let range = try #require(ByteRange(start: 200, length: 50))
        addressing.setIndex(IndexedFile([IndexedSegment(time: 2, duration: 3, byteRange: range)]))
        #expect(!addressing.needsIndex)
        #expect(
            addressing.segments == [
                AddressedSegment(
                    number: 1,
                    time: 20,
                    start: .zero,
                    duration: 3,
                    resource: AddressedResource(address: file, byteRange: range)
                )
            ]
        )
    }

    @Test func fileWithoutSegmentInformationIsOneSegment() throws {
        let addressing = try addressing("<BaseURL>captions.vtt</BaseURL>")
        #expect(addressing.segments.map { $0.resource.address.text } == ["\(Self.address)captions.vtt"])
        #expect(addressing.segments.map(\.duration) == [10])
        #expect(try self.addressing("").fault == .noSegmentInformation)
        #expect(try self.addressing(#"<SegmentTemplate media="x"/>"#).fault == .incompleteTemplate)
        #expect(try self.addressing("<BaseURL>a</BaseURL>", duration: "").fault == .unknownDuration)
    }

    @Test func baseAddressesResolveAtAllLevels() throws {
        let presentation = try parseManifest(
            """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="" minBufferTime="PT2S" mediaPresentationDuration="PT1S">
            <BaseURL serviceLocation="A"> cdn1/ </BaseURL><BaseURL>https://other.test/x/</BaseURL>
            <Period><BaseURL>../p/</BaseURL><AdaptationSet><BaseURL>set?q=1</BaseURL><BaseURL>//third.test/y/</BaseURL>
            <Representation id="r" bandwidth="1"><BaseURL>r/</BaseURL>
            <SegmentTemplate media="/abs/$Number$?k=v" initialization="i.mp4" duration="1"/></Representation>
            </AdaptationSet></Period></MPD>
            """,
            address: "https://example.test/a/m.mpd?token=1"
        )
        let addressing = try firstAddressing(presentation)
        #expect(addressing.baseAddresses.map(\.address.text) == ["https://example.test/a/p/r/"])
        #expect(addressing.baseAddresses.first?.serviceLocation == "A")
        #expect(addressing.initialization?.address.text == "https://example.test/a/p/r/i.mp4")
        #expect(addressing.segments.map { $0.resource.address.text } == ["https://example.test/abs/1?k=v"])
    }

    @Test func profilesOfDVBMultiplyAndSortBaseAddresses() throws {
        func addresses(_ profile: String) throws -> [String] {
            let presentation = try parseManifest(
                """
                <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:dvb="urn:dvb:dash:dash-extensions:2014-1"
                  profiles="\(profile)" minBufferTime="PT2S" mediaPresentationDuration="PT1S">
                <BaseURL dvb:priority="2">https://second.test/</BaseURL>
                <BaseURL dvb:priority="1">https://first.test/</BaseURL>
                <Period><AdaptationSet><Representation id="r" bandwidth="1"><BaseURL>r/</BaseURL></Representation>
                </AdaptationSet></Period></MPD>
                """,
                address: "https://example.test/a/m.mpd"
            )
            return try firstAddressing(presentation).baseAddresses.map(\.address.text)
        }
        #expect(
            try addresses("urn:dvb:dash:profile:dvb-dash:2014") == ["https://first.test/r/", "https://second.test/r/"]
        )
        #expect(try addresses("urn:mpeg:dash:profile:isoff-live:2011") == ["https://second.test/r/"])
    }

    @Test func alternativesOfBaseAddressesAreBounded() throws {
        let bases = String(repeating: "<BaseURL>x/</BaseURL>", count: 1_000)
        let presentation = try parseManifest(
            """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:dvb:dash:profile:dvb-dash:2014" minBufferTime="PT2S"
              mediaPresentationDuration="PT1S">\(bases)<Period>\(bases)<AdaptationSet>\(bases)
            <Representation id="r" bandwidth="1">\(bases)</Representation></AdaptationSet></Period></MPD>
            """,
            address: "https://example.test/m.mpd"
        )
        #expect(try firstAddressing(presentation).baseAddresses.count == 32)
    }

    // MARK: Extreme numbers

    @Test(arguments: [
        (#"timescale="1" duration="1""#, "", #"mediaPresentationDuration="PT1000000000000000000000S""#),
        (#"timescale="9223372036854775807" duration="1""#, "", #"mediaPresentationDuration="PT9H""#),
        (#"duration="9223372036854775807""#, "", #"mediaPresentationDuration="P9Y""#),
        (#"startNumber="9223372036854775807""#, #"<S d="1" r="9223372036854775807"/>"#, ""),
        ("", #"<S t="9223372036854775807" d="9223372036854775807" r="9223372036854775807"/><S d="5"/>"#, ""),
        (#"presentationTimeOffset="-9223372036854775808""#, #"<S t="-5" d="1" r="-1"/><S t="3" d="2"/>"#, ""),
        (#"presentationTimeOffset="9223372036854775807""#, #"<S t="0" d="1" r="5000000000"/>"#, ""),
        ("", #"<S d="3" k="9223372036854775807" r="4000000000"/><S d="3" r="4000000000"/>"#, ""),
        (#"endNumber="0" startNumber="18446744073709551615""#, #"<S d="1" r="-1"/>"#, ""),
        (#"timescale="0""#, #"<S t="0" d="1" r="-1"/>"#, #"mediaPresentationDuration="PT1E9S""#),
    ])
    func extremeNumbersNeitherTrapNorExpand(_ attributes: String, _ entries: String, _ duration: String) throws {
        let timeline = entries.isEmpty ? "" : "<SegmentTimeline>\(entries)</SegmentTimeline>"
        let addressing = try addressing(
            #"<SegmentTemplate media="$Number$-$Time$" \#(attributes)>\#(timeline)</SegmentTemplate>"#,
            duration: duration
        )
        #expect(addressing.count >= 0)
        for index in [0, 1, addressing.count / 2, addressing.count -| 1, addressing.count, .max, -1, .min] {
            let segment = addressing.segment(at: index)
            #expect((segment != nil) == (index >= 0 && index < addressing.count), "\(index)")
        }
    }

    @Test func billionsOfSegmentsAreCountedAndAddressed() throws {
        let addressing = try addressing(
            """
            <SegmentTemplate media="$Number$"><SegmentTimeline><S t="0" d="2" r="3999999999"/><S d="3" r="999999999"/>
            </SegmentTimeline></SegmentTemplate>
            """,
            duration: ""
        )
        #expect(addressing.count == 5_000_000_000)
        let segment = try #require(addressing.segment(at: 4_000_000_001))
        #expect(segment.number == 4_000_000_002)
        #expect(segment.time == 8_000_000_003)
        #expect(segment.duration == 3)
    }
}

struct AddressTemplateTests {
    private let values = AddressTemplate.Values(
        representationID: "v$1",
        bandwidth: 2_500,
        number: 42,
        time: 90_000,
        subNumber: 3
    )

    @Test(arguments: [
        ("$RepresentationID$/$Number$.m4s", "v$1/42.m4s"), ("$Number%05d$", "00042"), ("$Time%1d$", "90000"),
        ("$Bandwidth$-$SubNumber$", "2500-3"), ("a$$b$$$Number$", "a$b$42"), ("$Number%08x$-$Number%X$", "0000002a-2A"),
        ("plain", "plain"), ("", ""),
    ])
    func identifiersAreReplaced(_ template: String, _ expected: String) {
        let template = AddressTemplate(template)
        #expect(template.text(values) == expected)
        #expect(!template.isMalformed)
    }

    @Test(arguments: [
        ("$Number", "$Number"), ("$Nummer$", "$Nummer$"), ("RepresentationID$/$Number$", "RepresentationID$/42"),
        ("$Bandwidth%/$Time$.mp4v", "$Bandwidth%/90000.mp4v"), ("$Number%5s$", "$Number%5s$"), ("$", "$"),
        ("$RepresentationID%05d$", "$RepresentationID%05d$"), ("$Number%-5d$", "$Number%-5d$"),
    ])
    func otherTextStaysAndIsReported(_ template: String, _ expected: String) {
        let template = AddressTemplate(template)
        #expect(template.text(values) == expected)
        #expect(template.isMalformed)
    }

    @Test func widthOfNumbersIsBounded() {
        #expect(AddressTemplate("$Number%0999999999999999999999d$").text(values).utf8.count == 64)
    }

    @Test func smallestNumbersAreWritten() {
        var values = values
        values.time = .min
        #expect(AddressTemplate("$Time$").text(values) == "-9223372036854775808")
    }
}
