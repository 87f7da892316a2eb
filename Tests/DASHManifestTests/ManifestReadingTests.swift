import DASHManifest
import MediaTiming
import Testing
import XMLReading

struct ManifestReadingTests {
    @Test func valuesOfAllLevelsAreRead() throws {
        let presentation = try parseManifest(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" minBufferTime="PT2S"
              profiles="urn:mpeg:dash:profile:isoff-live:2011, urn:dvb:dash:profile:dvb-dash:2014"
              availabilityStartTime="2024-02-29T00:00:00Z" publishTime="2024-02-29T01:00:00+01:00"
              minimumUpdatePeriod="PT4.5S" timeShiftBufferDepth="PT1M" suggestedPresentationDelay="PT8S">
              <UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-iso:2014" value="https://time.example.test/"/>
              <Location> https://example.test/next.mpd </Location>
              <Period id="one" start="PT0S"/>
              <Period id="two" start="PT30S">
                <EventStream schemeIdUri="urn:scte:scte35:2013:xml" timescale="1000" presentationTimeOffset="500">
                  <Event presentationTime="2500" duration="4000" id="7">text</Event>
                </EventStream>
                <AdaptationSet id="a" lang="en" mimeType="audio/mp4" audioSamplingRate="48000" codecs="mp4a.40.2">
                  <Role schemeIdUri="urn:mpeg:dash:role:2011" value="dub"/>
                  <Label>Director</Label>
                  <Representation id="r1" bandwidth="128000"/>
                  <Representation id="r2" bandwidth="64000" codecs="mp4a.40.5, ec-3" mimeType="audio/webm"/>
                </AdaptationSet>
                <AdaptationSet width="640" height="360" frameRate="30000/1001">
                  <Representation id="v" bandwidth="1000"/>
                </AdaptationSet>
              </Period>
            </MPD>
            """
        )
        #expect(presentation.diagnostics.isEmpty)
        #expect(presentation.kind == .dynamic)
        #expect(presentation.isDVB)
        #expect(presentation.availabilityStartTime?.sinceEpoch == MediaTime(seconds: 1_709_164_800))
        #expect(presentation.publishTime?.sinceEpoch == MediaTime(seconds: 1_709_164_800))
        #expect(presentation.minimumUpdatePeriod == MediaTime(value: 9, timescale: 2))
        #expect(presentation.timeShiftBufferDepth == MediaTime(seconds: 60))
        #expect(presentation.suggestedPresentationDelay == MediaTime(seconds: 8))
        #expect(presentation.locations == ["https://example.test/next.mpd"])
        #expect(presentation.clockSynchronizations.map(\.value) == ["https://time.example.test/"])

        let (first, second) = (presentation.periods[0], presentation.periods[1])
        #expect(first.duration == MediaTime(seconds: 30))
        #expect(second.start == MediaTime(seconds: 30))
        #expect(second.duration == nil)
        let stream = try #require(second.eventStreams.first)
        let event = try #require(stream.events.first)
        #expect(stream.start(of: event) == MediaTime(seconds: 2))
        #expect(stream.duration(of: event) == MediaTime(seconds: 4))
        #expect(event.trimmedText == "text")

        let audio = second.adaptationSets[0]
        #expect(audio.mediaType == .audio)
        #expect(audio.language == "en")
        #expect(audio.roles.map(\.value) == ["dub"])
        #expect(audio.label == "Director")
        #expect(audio.representations[0].codecs == ["mp4a.40.2"])
        #expect(audio.representations[0].audioSamplingRate == 48_000)
        #expect(audio.representations[0].bandwidth == BitRate(bitsPerSecond: 128_000))
        #expect(audio.representations[1].codecs == ["mp4a.40.5", "ec-3"])
        #expect(audio.representations[1].mimeType == "audio/webm")

        let video = second.adaptationSets[1]
        #expect(video.mediaType == .video)
        #expect(video.representations[0].width == 640)
        #expect(video.representations[0].height == 360)
        #expect(video.representations[0].frameRate == MediaTime(value: 30_000, timescale: 1_001))
    }

    @Test func periodsWithoutStartFollowThePreviousPeriod() throws {
        let presentation = try parseManifest(
            """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="" minBufferTime="PT2S"
              mediaPresentationDuration="PT100S"><Period duration="PT10S"/><Period duration="PT20S"/>
              <Period start="PT25S"/></MPD>
            """
        )
        #expect(presentation.periods.map(\.start) == [.zero, MediaTime(seconds: 10), MediaTime(seconds: 25)])
        // The next period ends the second one early.
        #expect(
            presentation.periods.map(\.duration) == [
                MediaTime(seconds: 10), MediaTime(seconds: 15), MediaTime(seconds: 75),
            ]
        )
    }

    @Test func firstPeriodOfDynamicPresentationHasAStartUnlessItIsAvailableEarly() throws {
        for (periods, starts) in [
            ("<Period/>", [MediaTime.zero]), (#"<Period/><Period start="PT9S"/>"#, [nil, MediaTime(seconds: 9)]),
        ] {
            let presentation = try parseManifest(
                """
                <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" profiles="" minBufferTime="PT2S">\(periods)</MPD>
                """
            )
            #expect(presentation.periods.map(\.start) == starts)
        }
    }

    @Test func extensionsAreReachable() throws {
        let presentation = try parsePeriod(
            """
            <AdaptationSet mimeType="video/mp4">
              <ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="cenc"
                xmlns:cenc="urn:mpeg:cenc:2013" cenc:default_KID="1"><cenc:pssh>AAAA</cenc:pssh></ContentProtection>
              <ContentProtection schemeIdUri="urn:other" cenc:default_KID="2"/>
              <Representation id="v" bandwidth="1"/>
            </AdaptationSet>
            """
        )
        let protections = presentation.periods[0].adaptationSets[0].contentProtections
        #expect(protections.map { $0.element[.contentProtectionDefaultKeyID] } == ["1", "2"])
        let box = try #require(protections[0].element.children.first)
        #expect(box.name.namespace == "urn:mpeg:cenc:2013")
        #expect(box.name.local == "pssh")
        #expect(box.text == "AAAA")
        #expect(presentation.diagnostics.map(\.code) == [.undeclaredPrefix])
    }

    @Test(arguments: [
        (#"xmlns="urn:mpeg:DASH:schema:MPD:2011""#, ""), ("", ""), (#"xmlns:x="urn:other""#, "x:"), ("", "x:"),
        (#"xmlns:x="urn:mpeg:dash:schema:mpd:2011""#, "x:"),
    ])
    func otherNamespacesAndPrefixesAreAccepted(_ declaration: String, _ prefix: String) throws {
        let presentation = try parseManifest(
            """
            <\(prefix)MPD \(declaration) minBufferTime="PT2S" profiles=""><\(prefix)Period><\(prefix)AdaptationSet>
            <\(prefix)SegmentTemplate><\(prefix)SegmentTimeline><\(prefix)S t="1" d="2"/></\(prefix)SegmentTimeline>
            </\(prefix)SegmentTemplate></\(prefix)AdaptationSet></\(prefix)Period></\(prefix)MPD>
            """
        )
        let set = try #require(presentation.periods.first?.adaptationSets.first)
        let timeline = set.element.element(.segmentTemplate)?.element(.segmentTimeline)?.timeline
        #expect(timeline == [TimelineEntry(time: 1, duration: 2)])
        let isForeign = !declaration.contains("urn:mpeg:dash:schema:mpd:2011")
        #expect(presentation.diagnostics.contains { $0.code == .foreignNamespace } == isForeign)
    }

    /// An attribute that the standard does not define prevents that the others are read as numbers.
    @Test(arguments: [
        #"t="5" d="2" r="3" n="7" k="4""#, #"d="2""#, #"d="0""#, #"t="5""#, "", #"d="-1""#, #"d="2" t="-1""#,
        #"d="2" r="-1""#, #"d="2" r="-2""#, #"d="2" n="-1""#, #"d="2" k="0""#, #"d="2" k="-1""#, #"d="2" x="1""#,
        #"d=" 2 ""#, #"d="+2""#, #"d="2x""#, #"d="99999999999999999999""#, #"d="2" r="999999999999999999""#,
    ])
    func entriesAreTheSameHoweverTheyAreRead(_ attributes: String) throws {
        func timelines(_ extra: String) throws -> (entries: [[TimelineEntry]], diagnostics: [String]) {
            let presentation = try parsePeriod(
                """
                <SegmentTimeline><S d="1" \(extra)/><S \(attributes) \(extra)>text<S d="9"/><Other/></S>
                <SegmentTimeline><S d="3" \(extra)/></SegmentTimeline><S d="4" \(extra)/></SegmentTimeline>
                <S d="5" \(extra)/>
                """
            )
            let outer = try #require(presentation.periods[0].element.children.first)
            let inner = try #require(outer.children.first)
            let messages = presentation.diagnostics.map { "\($0.line ?? 0) \($0.message)" }
            return ([outer.timeline, inner.timeline], messages.filter { !$0.contains("attribute unknown") })
        }
        let (numbers, text) = (try timelines(""), try timelines(#"unknown="1""#))
        #expect(numbers.entries == text.entries)
        #expect(numbers.diagnostics == text.diagnostics)
        #expect(numbers.entries[0].map(\.duration).first == 1 && numbers.entries[0].map(\.duration).last == 4)
        #expect(numbers.entries[0].count == 3 && numbers.entries[1] == [TimelineEntry(duration: 3)])
    }

    @Test(arguments: [
        (#"type="list""#, ManifestRule.invalidType),
        (#"timeShiftBufferDepth="126""#, .invalidValue), (#"availabilityStartTime="some_time""#, .invalidValue),
        (#"availabilityStartTime="2024-01-01T00:00:00""#, .missingTimeZone),
        (#"maxSegmentDuration="P1Y""#, .calendarDuration), (#"nonsense="1""#, .unknownAttribute),
        (#"mediaPresentationDuration="PT12Q""#, .invalidValue), (#"mediaPresentationDuration="ten""#, .invalidValue),
        (#"mediaPresentationDuration="-PT4S""#, .negativeDuration),
    ])
    func attributesOfOtherFormsAreReported(_ attribute: String, _ code: ManifestRule) throws {
        let presentation = try parsePeriod("", attributes: attribute)
        let found = try #require(presentation.diagnostics.first)
        #expect(presentation.diagnostics.count == 1)
        #expect(found.code == code)
        #expect(found.line == 2)
    }

    /// The rule is the same for `inspect` and `validate`, which do not report a violation twice.
    @Test func negativeDurationIsIgnoredAndReportedOnce() throws {
        let presentation = try parsePeriod("", attributes: #"mediaPresentationDuration="-PT4S""#)
        #expect(presentation.duration == nil)
        #expect(presentation.diagnostics.map(\.severity) == [.error])
        #expect(presentation.validated().filter { $0.code == .negativeDuration }.count == 1)
    }

    @Test func structureThatTheStandardDoesNotAllowIsReported() throws {
        let presentation = try parseManifest(
            """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" minBufferTime="PT2S">
            <Representation id="x" bandwidth="1"/>
            <Surprise/>
            </MPD>
            """
        )
        #expect(
            presentation.diagnostics.map(\.code) == [.missingAttribute, .misplacedElement, .unknownElement, .noPeriod]
        )
        #expect(presentation.diagnostics.map(\.line) == [1, 2, 3, 1])
    }

    @Test func repeatedRepresentationIdentifiersAreReported() throws {
        let set = #"<AdaptationSet mimeType="video/mp4"><Representation id="v" bandwidth="1"/></AdaptationSet>"#
        let presentation = try parsePeriod(set + set)
        #expect(presentation.diagnostics.map(\.code) == [.duplicateRepresentation])
    }
}

struct ManifestValueTests {
    @Test(arguments: [
        ("PT634.566S", MediaTime(value: 634_566, timescale: 1_000)), ("PT0S", .zero), ("P0Y0M0DT0H3M30.000S", 210),
        ("P1DT2H3M4.5S", MediaTime(value: 187_569, timescale: 2)), ("P2Y", 63_072_000), ("P1M", 2_592_000),
        ("PT1.5H", 5_400), (" PT2S\n", 2), ("-PT2S", -2), ("PT1H1S", 3_601),
    ])
    func durationsAreExact(_ text: String, _ time: MediaTime) {
        #expect(ManifestDuration(text)?.time == time)
        #expect(ManifestDuration(text)?.isClamped == false)
    }

    @Test(arguments: [
        "", "P", "PT", "4", "T4S", "PT4", "PT4S5", "PT5S4M", "P4S", "PT4D", "PT1.2.3S", "PT.S", "PT-4S", "P1DT", "pt4s",
    ])
    func otherTextIsNoDuration(_ text: String) {
        #expect(ManifestDuration(text) == nil)
    }

    @Test(arguments: ["PT1\(String(repeating: "0", count: 300))S", "P99999999999999999Y", "PT999999999999999999H"])
    func longDurationsAreClamped(_ text: String) throws {
        let duration = try #require(ManifestDuration(text))
        #expect(duration.isClamped)
        #expect(duration.time == ManifestDuration.maximum)
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", MediaTime.zero), ("1970-01-01T00:00:00", .zero), ("1969-12-31T23:59:59Z", -1),
        ("2000-03-01T00:00:00Z", 951_868_800),
        ("2024-01-01T00:00:00.25+05:30", MediaTime(value: 6_816_189_601, timescale: 4)),
        ("1970-01-01T01:00-0100", 7_200),
    ])
    func datesAreExact(_ text: String, _ time: MediaTime) {
        #expect(ManifestDate(text)?.sinceEpoch == time)
    }

    @Test(arguments: [
        "some_time", "", "2024-13-01T00:00:00Z", "2024-01-01", "2024-01-01T00:00:00Zx", "24-01-01T00:00:00Z",
    ])
    func otherTextIsNoDate(_ text: String) {
        #expect(ManifestDate(text) == nil)
    }

    @Test(arguments: [
        ("0", 0), ("-130000", -130_000), (" 42 ", 42), ("+7", 7), ("99999999999999999999", Int64.max),
        ("-99999999999999999999", Int64.min), ("18446744073709551615", Int64.max),
    ])
    func integersAreClampedTo64Bits(_ text: String, _ number: Int64) {
        #expect(ManifestNumber.integer(text) == number)
    }

    @Test(arguments: ["", "-", "1.0", "1 2", "0x10", "--1", "1-", "None", "١"])
    func otherTextIsNoInteger(_ text: String) {
        #expect(ManifestNumber.integer(text) == nil)
    }

    @Test func byteRangesIncludeBothPositions() {
        #expect(ManifestNumber.byteRange("0-862") == ByteRange(start: 0, length: 863))
        #expect(ManifestNumber.byteRange("5-5") == ByteRange(start: 5, length: 1))
        for text in ["", "5", "5-4", "-5-6", "a-b", "1-2-3", "0-9223372036854775807", "5-"] {
            #expect(ManifestNumber.byteRange(text) == nil, "\(text)")
        }
    }

    @Test func frameRatesAreExactFractions() {
        #expect(ManifestNumber.frameRate("30000/1001") == MediaTime(value: 30_000, timescale: 1_001))
        #expect(ManifestNumber.frameRate("29.97") == MediaTime(value: 2_997, timescale: 100))
        for text in ["", "0", "1/0", "0/1", "a", "1/2/3", "-25"] {
            #expect(ManifestNumber.frameRate(text) == nil, "\(text)")
        }
    }
}
