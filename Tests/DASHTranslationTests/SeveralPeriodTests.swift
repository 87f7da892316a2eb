import DASHManifest
import DASHTranslation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

/// Static presentations whose periods differ.
struct SeveralPeriodTests {
    private func set(
        _ type: String,
        _ representations: String,
        attributes: String = "",
        contents: String = ""
    ) -> String {
        """
        <AdaptationSet contentType="\(type)" mimeType="\(type)/mp4" \(attributes)>\(contents)
        <SegmentTemplate duration="4" initialization="i" media="$RepresentationID$-$Number$"/>\(representations)</AdaptationSet>
        """
    }

    private func representation(_ id: String, _ bandwidth: Int, _ codecs: String, contents: String = "") -> String {
        #"<Representation id="\#(id)" bandwidth="\#(bandwidth)" codecs="\#(codecs)">\#(contents)</Representation>"#
    }

    @Test func languagesOfAllPeriodsAreRenditions() throws {
        let ladder = (1...3).map { representation("ad\($0)", $0 * 1_000, "avc1.64001f") }.joined()
        let audio = { (language: String) in
            set("audio", representation("a-\(language)", 100, "mp4a.40.2"), attributes: #"lang="\#(language)""#)
        }
        let advertisement = #"<Period duration="PT8S">\#(set("video", ladder))\#(audio("en"))</Period>"#
        let content =
            #"<Period duration="PT12S">\#(set("video", representation("v", 9_000, "avc1.64001f")))"#
            + audio("en") + audio("fr") + "</Period>"
        let result = try translate(manifest(advertisement + content))
        #expect(result.multivariant.renditions.map(\.language) == ["en", "fr"])
        let french = try result.playlist("audio-a-fr.m3u8").segments.map(\.uri)
        // In the period without French, the audio is the one that the period has.
        #expect(french.count == 5 && french[0].hasSuffix("a-en-1") && french[2].hasSuffix("a-fr-1"))
        // A variant declares the bandwidth of the period that needs most.
        #expect(result.multivariant.variants.allSatisfy { $0.bandwidth?.bitsPerSecond ?? 0 >= 9_100 })
    }

    @Test func variantsDeclareTheCodecsOfAllPeriods() throws {
        let periods = ["avc1.64001f", "hvc1.2.4.L153"].map { codecs in
            #"<Period duration="PT8S">\#(set("video", representation("v", 1_000, codecs)))</Period>"#
        }
        let result = try translate(manifest(periods.joined()))
        #expect(result.multivariant.variants.map { $0.attributes["CODECS"] } == ["avc1.64001f,hvc1.2.4.L153"])
    }

    @Test func serviceLocationsOfLaterPeriodsArePathways() throws {
        let bases =
            #"<BaseURL serviceLocation="a">https://a.test/</BaseURL><BaseURL serviceLocation="b">https://b.test/</BaseURL>"#
        let video = set("video", representation("v", 1_000, "avc1.64001f"))
        let steering = #"<ContentSteering defaultServiceLocation="b">https://steer.test/</ContentSteering>"#
        let periods = #"<Period duration="PT8S">\#(video)</Period><Period duration="PT8S">\#(bases + video)</Period>"#
        let result = try translate(manifest(steering + periods))
        #expect(result.multivariant.contentSteering?.pathwayID == "b")
        let addresses = try result.playlists.map { try $0.playlist.segments.last?.address.text }
        #expect(addresses == ["https://b.test/v-2", "https://a.test/v-2"])
    }

    @Test func subtitlesInOneFileDoNotChangeTheTargetDurationOfVideo() throws {
        let subtitles = """
            <AdaptationSet mimeType="text/vtt" lang="en"><Representation id="s" bandwidth="1"><BaseURL>s.vtt</BaseURL>
            </Representation></AdaptationSet>
            """
        let result = try translate(manifest("<Period>\(videoSet)\(subtitles)</Period>"))
        #expect(try result.playlist("video-v1.m3u8").targetDuration == 4)
        #expect(try result.playlist("subtitles-s.m3u8").targetDuration == 20)
    }

    @Test(arguments: [
        ("urn:mpeg:mpegI:omaf:2017:pf", TranslationLoss.Code.unknownProperty),
        ("http://dashif.org/guidelines/trickmode", .trickPlay),
    ])
    func representationsThatRequireAPropertyAreLeftOut(_ scheme: String, _ code: TranslationLoss.Code) throws {
        let property = #"<EssentialProperty schemeIdUri="\#(scheme)" value="1"/>"#
        let representations =
            representation("v", 1_000, "avc1.64001f") + representation("w", 10, "avc1.64001f", contents: property)
        let result = try translate(manifest("<Period>\(set("video", representations))</Period>"))
        #expect(result.playlists.map(\.fileName) == ["video-v.m3u8"])
        #expect(result.losses.map(\.code) == [code])
    }

    /// Segments of one frame are known by the attributes of all levels, or by the timeline.
    @Test(arguments: [
        #"<SegmentTemplate duration="2" initialization="i" media="$Number$"/>"#,
        #"""
        <SegmentTemplate initialization="i" media="$Time$"><SegmentTimeline><S t="0" d="2" r="9"/></SegmentTimeline>
        </SegmentTemplate>
        """#,
    ])
    func trickModeSegmentsOfOneFrameAreIFrames(_ template: String) throws {
        let trickMode = """
            <AdaptationSet mimeType="video/mp4"><EssentialProperty schemeIdUri="http://dashif.org/guidelines/trickmode" value="1"/>
            <Representation id="t" bandwidth="10" codecs="avc1.64001f" frameRate="1/2"/></AdaptationSet>
            """
        let video =
            #"<AdaptationSet mimeType="video/mp4">\#(representation("v", 1_000, "avc1.64001f"))</AdaptationSet>"#
        let result = try translate(manifest("<Period>\(template)\(video)\(trickMode)</Period>"))
        #expect(result.multivariant.iFrameVariants.count == 1)
        #expect(result.losses.isEmpty)
    }

    @Test func periodContinuesThatOfTheSameSet() throws {
        func discontinuities(_ second: String) throws -> Int {
            let continuity = #"<SupplementalProperty schemeIdUri="urn:mpeg:dash:period-continuity:2015" value="p1"/>"#
            let video = representation("v", 1_000, "avc1.64001f")
            let first = set("video", video, attributes: #"id="1""#)
            let later = set("video", video, attributes: #"id="\#(second)""#, contents: continuity)
            let periods =
                #"<Period id="p1" duration="PT8S">\#(first)</Period><Period id="p2" duration="PT8S">\#(later)</Period>"#
            let result = try translate(manifest(periods))
            return try result.playlist("video-v.m3u8").segments.filter(\.hasDiscontinuity).count
        }
        #expect(try discontinuities("1") == 0)
        #expect(try discontinuities("9") == 1)
    }

    @Test func subtitlesWithoutAMapDoNotFollowThoseWithOne() throws {
        let boxed = """
            <AdaptationSet mimeType="application/mp4" lang="en"><SegmentTemplate duration="4" initialization="i" media="s-$Number$"/>
            <Representation id="s" bandwidth="1" codecs="wvtt"/></AdaptationSet>
            """
        let plain = """
            <AdaptationSet mimeType="text/vtt" lang="en"><Representation id="s" bandwidth="1"><BaseURL>s.vtt</BaseURL>
            </Representation></AdaptationSet>
            """
        let periods = [boxed, plain].map { #"<Period duration="PT8S">\#(videoSet)\#($0)</Period>"# }
        let result = try translate(manifest(periods.joined()))
        #expect(try result.playlist("subtitles-s.m3u8").segments.map(\.isGap) == [false, false, true, true])
        #expect(result.losses.map(\.code).contains(.unmatchedTrack))
        // The other order is possible.
        let reversed = try translate(manifest(periods.reversed().joined()))
        #expect(try reversed.playlist("subtitles-s.m3u8").segments.allSatisfy { !$0.isGap })
    }

    @Test(arguments: [
        (#"scte214:supplementalCodecs="dvh1.08.06" scte214:supplementalProfiles="db1p""#, "dvh1.08.06/db1p"),
        (#"scte214:supplementalCodecs="dvh1.08.06""#, "dvh1.08.06"), (#"scte214:supplementalCodecs="a/b/c;d""#, nil),
        ("", nil),
    ])
    func supplementalCodecsAreCarried(_ attributes: String, _ expected: String?) throws {
        let video = set(
            "video",
            representation("v", 1_000, "hvc1.2.4.L153.B0"),
            attributes: #"xmlns:scte214="urn:scte:dash:scte214-extensions" \#(attributes)"#
        )
        let result = try translate(manifest("<Period>\(video)</Period>"))
        #expect(result.multivariant.variants.first?.attributes["SUPPLEMENTAL-CODECS"] == expected)
    }

    @Test func oneOfAlternativePropertiesHasToBeKnown() throws {
        let properties = ["urn:example:unknown", "urn:mpeg:mpegB:cicp:ColourPrimaries"].map {
            #"<EssentialProperty schemeIdUri="\#($0)" id="1" value="1"/>"#
        }
        let video = set("video", representation("v", 1_000, "avc1.64001f"), contents: properties.joined())
        #expect(try translate(manifest("<Period>\(video)</Period>")).playlists.count == 1)
    }

    @Test func encodedMessagesAndDatesOfEventsAreRead() throws {
        let events = """
            <EventStream schemeIdUri="urn:scte:scte35:2013:bin"><Event id="1" contentEncoding="base64">/DAIAAAAAAAAAAA=</Event>
            <Event id="2" presentationTime="15523215530800000"/></EventStream>
            <EventStream schemeIdUri="urn:example:e"><Event id="3" contentEncoding="base64">aGVsbG8=</Event></EventStream>
            """
        let result = try translate(manifest("<Period>\(events)\(videoSet)</Period>"))
        let ranges = try result.playlist("video-v1.m3u8").dateRanges
        #expect(ranges.count == 2, "an event after the year 9999 has no date")
        #expect(result.losses.map(\.code) == [.event])
        #expect(ranges[0]["SCTE35-CMD"] == "0xFC30080000000000000000")
        #expect(ranges[1]["X-MESSAGE-DATA"] == "hello")
    }

    /// A list without a type, in which one segment has the extension of a fragment.
    @Test func segmentsOfAListNeedTheirInitializationSection() throws {
        let list = ["1.bin", "2.cmfv", "3.bin"].map { #"<SegmentURL media="\#($0)"/>"# }.joined()
        let set = """
            <AdaptationSet contentType="video"><Representation id="v" bandwidth="1"><SegmentList duration="4">\(list)</SegmentList>
            </Representation></AdaptationSet>
            """
        let result = try translate(manifest("<Period>\(videoSet)\(set)</Period>"))
        #expect(result.losses.map(\.code) == [.missingInitialization])
        #expect(result.playlists.count == 2)
    }

    @Test func namesOfFilesDifferInMoreThanTheirCase() throws {
        let representations = representation("v", 1, "avc1.64001f") + representation("V", 2, "avc1.64001f")
        let result = try translate(manifest("<Period>\(set("video", representations))</Period>"))
        #expect(Set(result.playlists.map { $0.fileName.lowercased() }).count == 2)
    }
}
