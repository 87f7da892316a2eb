import DASHManifest
import DASHTranslation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

struct PresentationTranslatorTests {
    @Test func videoAndAudioBecomeVariantsAndGroups() throws {
        let channels = #"<AudioChannelConfiguration schemeIdUri="urn:mpeg:mpegB:cicp:ChannelConfiguration" value="2"/>"#
        let description = #"<Role schemeIdUri="urn:mpeg:dash:role:2011" value="description"/>"#
        let result = try translate(
            manifest(
                "<Period>\(videoSet)\(audioSet("a1", language: "en", contents: channels))"
                    + "\(audioSet("a2", language: "fr", contents: channels))"
                    + "\(audioSet("a3", language: "en", contents: description + channels))</Period>"
            )
        )
        #expect(
            result.multivariantText == """
                #EXTM3U
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio-1",NAME="en",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,\
                CHANNELS="2",URI="audio-a1.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio-1",NAME="fr",LANGUAGE="fr",DEFAULT=NO,AUTOSELECT=YES,\
                CHANNELS="2",URI="audio-a2.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio-1",NAME="en description",LANGUAGE="en",DEFAULT=NO,AUTOSELECT=YES,\
                CHARACTERISTICS="public.accessibility.describes-video",CHANNELS="2",URI="audio-a3.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=1128000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=29.97,\
                AUDIO="audio-1"
                video-v1.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=3128000,CODECS="avc1.640028,mp4a.40.2",RESOLUTION=1280x720,FRAME-RATE=29.97,\
                AUDIO="audio-1"
                video-v2.m3u8

                """
        )
        #expect(
            try result.text("video-v1.m3u8") == """
                #EXTM3U
                #EXT-X-VERSION:6
                #EXT-X-TARGETDURATION:4
                #EXT-X-PLAYLIST-TYPE:VOD
                #EXT-X-MAP:URI="https://example.test/a/v1/init.mp4"
                #EXTINF:4,
                https://example.test/a/v1/1.m4s
                #EXTINF:4,
                https://example.test/a/v1/2.m4s
                #EXTINF:4,
                https://example.test/a/v1/3.m4s
                #EXTINF:4,
                https://example.test/a/v1/4.m4s
                #EXTINF:4,
                https://example.test/a/v1/5.m4s
                #EXT-X-ENDLIST

                """
        )
        #expect(result.losses == [])
    }

    @Test func labeledTracksOfOneLanguageFormOneGroup() throws {
        func contents(_ label: String, _ channels: Int) -> String {
            #"<Label>\#(label)</Label><AudioChannelConfiguration "#
                + #"schemeIdUri="urn:mpeg:dash:23003:3:audio_channel_configuration:2011" value="\#(channels)"/>"#
        }
        let result = try translate(
            manifest(
                "<Period>\(videoSet)\(audioSet("a1", language: "en", contents: contents("Stereo", 2)))"
                    + "\(audioSet("a2", language: "en", contents: contents("Surround", 6)))</Period>"
            )
        )
        #expect(result.multivariant.renditions.map(\.name) == ["Stereo", "Surround"])
        #expect(Set(result.multivariant.renditions.map(\.groupID)) == ["audio-1"])
        #expect(result.multivariant.variants.count == 2)
    }

    @Test func groupsOfSeveralCodecsHaveTheSameRenditions() throws {
        let result = try translate(
            manifest(
                "<Period>\(videoSet)\(audioSet("a1", language: "en"))\(audioSet("a2", language: "fr"))"
                    + "\(audioSet("a3", language: "en", codec: "ec-3"))</Period>"
            )
        )
        let groups = Dictionary(grouping: result.multivariant.renditions, by: \.groupID)
        #expect(groups.count == 2)
        #expect(groups.values.allSatisfy { $0.map(\.name) == ["en", "fr"] })
        // A variant with Dolby Digital has the French AAC rendition too, so it names both codecs.
        #expect(
            Set(result.multivariant.variants.map { $0.codecs.dropFirst() }) == [["mp4a.40.2"], ["ec-3", "mp4a.40.2"]]
        )
        #expect(result.multivariant.variants.count == 4)
    }

    @Test func fileNamesAreDistinctForRepeatedAndUnusualIdentifiers() throws {
        let ids = ["a", "a", "../a", "a/b", "", "é", "x y"]
        let representations = ids.map {
            #"<Representation id="\#($0)" bandwidth="1000" codecs="avc1.64001f" width="640" height="360"/>"#
        }
        let result = try translate(
            manifest(
                """
                <Period><AdaptationSet contentType="video"><SegmentTemplate duration="4" initialization="i" media="$Number$.m4s"/>
                \(representations.joined())</AdaptationSet></Period>
                """
            )
        )
        #expect(
            result.playlists.map(\.fileName) == [
                "video-a.m3u8", "video-a-2.m3u8", "video-a-3.m3u8", "video-ab.m3u8", "video.m3u8", "video-2.m3u8",
                "video-xy.m3u8",
            ]
        )
        #expect(Set(result.multivariant.variants.map(\.uri)).count == ids.count)
    }

    @Test func periodsBecomeDiscontinuities() throws {
        let advertisement = videoSet.replacing("v1", with: "ad").replacing("v2/", with: "ad2/")
        let result = try translate(
            manifest(
                """
                <Period id="1" duration="PT8S">\(videoSet)</Period><Period id="2" duration="PT6S">\(advertisement)</Period>
                <Period id="3" duration="PT8S">\(videoSet)</Period>
                """,
                attributes: #"type="static""#
            )
        )
        let low = try result.playlist("video-v1.m3u8")
        #expect(low.segments.map(\.discontinuitySequence) == [0, 0, 1, 1, 2, 2])
        #expect(low.segments.map(\.duration) == [4, 4, 4, 2, 4, 4])
        #expect(low.segments.map { $0.map?.address.lastPathComponent } == Array(repeating: "init.mp4", count: 6))
        #expect(low.segments[2].uri == "https://example.test/a/ad/1.m4s")
        #expect(try result.playlist("video-v2.m3u8").segments.map(\.discontinuitySequence) == [0, 0, 1, 1, 2, 2])
    }

    @Test func continuousPeriodsHaveNoDiscontinuity() throws {
        let property = #"<SupplementalProperty schemeIdUri="urn:mpeg:dash:period-continuity:2015" value="1"/>"#
        let continued = videoSet.replacing("<SegmentTemplate", with: "\(property)<SegmentTemplate")
        let result = try translate(
            manifest(
                #"<Period id="1" duration="PT8S">\#(videoSet)</Period><Period id="2" duration="PT8S">\#(continued)</Period>"#
            )
        )
        #expect(try result.playlist("video-v1.m3u8").segments.map(\.discontinuitySequence) == [0, 0, 0, 0])
    }

    @Test func tracksContinueInTheirLanguageAndHaveGapsWithoutOne() throws {
        let subtitles = """
            <AdaptationSet contentType="text" mimeType="text/vtt" lang="en"><Representation id="s" bandwidth="1">
            <BaseURL>en.vtt</BaseURL></Representation></AdaptationSet>
            """
        let result = try translate(
            manifest(
                """
                <Period id="1" duration="PT8S">\(videoSet)\(audioSet("a", language: "en"))\(audioSet("b", language: "fr"))\
                \(subtitles)</Period>
                <Period id="2" duration="PT8S">\(videoSet)\(audioSet("c", language: "fr"))\(audioSet("d", language: "en"))\
                </Period>
                """,
                attributes: #"type="static""#
            )
        )
        #expect(try result.playlist("audio-a.m3u8").segments[2].uri == "https://example.test/a/d/1.m4s")
        #expect(try result.playlist("audio-b.m3u8").segments[2].uri == "https://example.test/a/c/1.m4s")
        let text = try result.playlist("subtitles-s.m3u8")
        #expect(text.segments.map(\.isGap) == [false, true, true])
        #expect(result.losses.map(\.code) == [.unmatchedTrack])
    }

    @Test func holesOfTimelinesBecomeGapsAndSmallDifferencesDoNotAccumulate() throws {
        let result = try translate(
            manifest(
                """
                <Period><AdaptationSet contentType="video" mimeType="video/mp4"><SegmentTemplate timescale="3"
                initialization="i" media="$Time$">
                <SegmentTimeline><S t="0" d="7" r="2"/><S t="30" d="7"/><S t="37" d="7" r="2"/></SegmentTimeline>
                </SegmentTemplate><Representation id="v" bandwidth="1" codecs="avc1.64001f"/></AdaptationSet></Period>
                """,
                attributes: #"type="static" mediaPresentationDuration="PT19.4S""#
            )
        )
        let segments = try result.playlist("video-v.m3u8").segments
        #expect(segments.map(\.isGap) == [false, false, false, true, true, false, false, false, false])
        let total = segments.reduce(MediaTime.zero) { $0 + $1.duration }
        #expect(total == MediaTime(value: 19_333_333, timescale: 1_000_000))
        // The boundary after two segments of 7/3 seconds is rounded, not the duration of each.
        #expect(segments[0].duration + segments[1].duration == MediaTime(value: 4_666_667, timescale: 1_000_000))
    }

    @Test func indexedFilesBecomeByteRangesWithTheirBitRates() throws {
        let presentation = try manifest(
            """
            <Period><AdaptationSet contentType="video" mimeType="video/mp4" subsegmentStartsWithSAP="1">
            <Representation id="v" bandwidth="1000" codecs="avc1.64001f"><BaseURL>v.mp4</BaseURL>
            <SegmentBase indexRange="800-867"/></Representation></AdaptationSet></Period>
            """,
            attributes: #"type="static" mediaPresentationDuration="PT6S""#
        )
        var translator = PresentationTranslator()
        let index = try #require(ByteRange(start: 800, length: 68))
        let resource = AddressedResource(address: ResourceAddress("https://example.test/a/v.mp4"), byteRange: index)
        #expect(try translator.requiredIndexes(of: presentation, at: testNow) == [resource])
        let ranges = try [(868, 1_000), (1_868, 500)].map { start, length in
            try #require(ByteRange(start: Int64(start), length: Int64(length)))
        }
        let result = try translator.translate(
            presentation,
            indexes: [
                resource: IndexedFile([
                    IndexedSegment(time: 0, duration: 4, byteRange: ranges[0]),
                    IndexedSegment(time: 4, duration: 2, byteRange: ranges[1]),
                ])
            ],
            at: testNow
        )
        #expect(violations(of: result) == [])
        #expect(
            try result.text("video-v.m3u8") == """
                #EXTM3U
                #EXT-X-VERSION:6
                #EXT-X-TARGETDURATION:4
                #EXT-X-PLAYLIST-TYPE:VOD
                #EXT-X-MAP:URI="https://example.test/a/v.mp4",BYTERANGE="800@0"
                #EXT-X-BYTERANGE:1000@868
                #EXTINF:4,
                https://example.test/a/v.mp4
                #EXT-X-BYTERANGE:500@1868
                #EXTINF:2,
                https://example.test/a/v.mp4
                #EXT-X-ENDLIST

                """
        )
        #expect(result.multivariant.variants.map(\.bandwidth) == [BitRate(bitsPerSecond: 2_000)])
        #expect(result.multivariant.variants.map(\.averageBandwidth) == [BitRate(bitsPerSecond: 2_000)])
        #expect(throws: TranslationError.self) { try PresentationTranslatorTests.withoutIndexes(presentation) }
    }

    private static func withoutIndexes(_ presentation: MediaPresentation) throws {
        var translator = PresentationTranslator()
        _ = try translator.translate(presentation, at: testNow)
    }

    @Test func protectedMediaHasKeysAndIsReported() throws {
        let protection = """
            <ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="cbcs" cenc:default_KID="1234"/>
            <ContentProtection schemeIdUri="urn:uuid:EDEF8BA9-79D6-4ACE-A3C8-27DCD51D21ED"><cenc:pssh>AAAA
            BBBB</cenc:pssh></ContentProtection>
            """
        let protected = videoSet.replacing("<SegmentTemplate", with: "\(protection)<SegmentTemplate")
        let result = try translate(
            manifest(
                #"<Period id="1" duration="PT4S">\#(videoSet)</Period><Period id="2" duration="PT4S">\#(protected)</Period>"#
                    + #"<Period id="3" duration="PT4S">\#(videoSet)</Period>"#,
                attributes: #"type="static""#
            )
        )
        let keys = try result.playlist("video-v1.m3u8").segments.map { $0.keys.map(\.method.rawValue) }
        #expect(keys == [[], ["SAMPLE-AES"], []])
        let session = try #require(result.multivariant.sessionKeys.first)
        #expect(session.uri == "data:text/plain;base64,AAAABBBB")
        #expect(session.keyFormat == "urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed")
        #expect(Set(result.losses.map(\.code)) == [.protected])
    }

    @Test func unknownKeySystemsStillMarkMediaAsEncrypted() throws {
        let protection = #"<ContentProtection schemeIdUri="urn:uuid:00000000-0000-0000-0000-000000000000"/>"#
        let result = try translate(
            manifest(
                "<Period>\(videoSet.replacing("<SegmentTemplate", with: "\(protection)<SegmentTemplate"))</Period>"
            )
        )
        let keys = try result.playlist("video-v1.m3u8").segments.map { $0.keys.map(\.method.rawValue) }
        #expect(keys == Array(repeating: ["SAMPLE-AES-CTR"], count: 5))
    }

    @Test func subtitlesAndClosedCaptionsBecomeRenditions() throws {
        let captions = #"<Accessibility schemeIdUri="urn:scte:dash:cc:cea-608:2015" value="CC1=eng;CC3=spa"/>"#
        let video = videoSet.replacing("<SegmentTemplate", with: "\(captions)<SegmentTemplate")
        let result = try translate(
            manifest(
                """
                <Period>\(video)
                <AdaptationSet contentType="text" mimeType="application/mp4" codecs="wvtt" lang="de">
                <Role schemeIdUri="urn:mpeg:dash:role:2011" value="caption"/>
                <SegmentTemplate duration="10" initialization="i" media="$Number$"/><Representation id="w" bandwidth="9"/>
                </AdaptationSet>
                <AdaptationSet mimeType="application/ttml+xml" lang="de"><Representation id="t" bandwidth="9">
                <BaseURL>a.ttml</BaseURL></Representation></AdaptationSet></Period>
                """
            )
        )
        let renditions = result.multivariant.renditions
        #expect(renditions.map(\.type) == [.subtitles, .closedCaptions, .closedCaptions])
        #expect(renditions.map(\.language) == ["de", "eng", "spa"])
        #expect(renditions[0].characteristics.count == 2)
        #expect(result.multivariant.variants.allSatisfy { $0.codecs.contains("wvtt") })
        #expect(result.losses.map(\.code) == [.unsupportedText])
    }

    @Test func trickPlaySetsWithSingleFramesBecomeIFramePlaylists() throws {
        let trick = """
            <AdaptationSet contentType="video" mimeType="video/mp4">
            <EssentialProperty schemeIdUri="http://dashif.org/guidelines/trickmode" value="1"/>
            <SegmentTemplate duration="4" initialization="t/i" media="t/$Number$"/>
            <Representation id="t1" bandwidth="90000" codecs="avc1.64001f" width="320" height="180" frameRate="1/4"/>
            <Representation id="t2" bandwidth="90000" codecs="avc1.64001f" width="320" height="180" frameRate="1"/>
            </AdaptationSet>
            """
        let result = try translate(manifest("<Period>\(videoSet)\(trick)</Period>"))
        #expect(result.multivariant.iFrameVariants.map(\.uri) == ["iFrames-t1.m3u8"])
        #expect(try result.playlist("iFrames-t1.m3u8").isIFramesOnly)
        #expect(result.losses.map(\.code) == [.trickPlay])
    }

    @Test func setsWithUnknownEssentialPropertiesAreLeftOut() throws {
        let property = #"<EssentialProperty schemeIdUri="urn:example:unknown"/>"#
        let thumbnails = """
            <AdaptationSet mimeType="image/jpeg" contentType="image"><Representation id="i" bandwidth="1">
            <EssentialProperty schemeIdUri="http://dashif.org/guidelines/thumbnail_tile" value="5x5"/></Representation>
            </AdaptationSet>
            """
        let result = try translate(
            manifest("<Period>\(videoSet)\(audioSet("a", language: "en", contents: property))\(thumbnails)</Period>")
        )
        #expect(result.multivariant.renditions.isEmpty)
        #expect(result.losses.map(\.code) == [.unknownProperty, .thumbnails])
    }

    @Test func presentationsWithoutPlayableMediaAreRefused() throws {
        let text =
            #"<AdaptationSet mimeType="text/vtt"><Representation id="s" bandwidth="1"><BaseURL>a</BaseURL></Representation></AdaptationSet>"#
        for periods in ["", "<Period/>", "<Period>\(text)</Period>"] {
            let presentation = try manifest(periods)
            #expect(throws: TranslationError.self) { try PresentationTranslatorTests.withoutIndexes(presentation) }
        }
    }

    @Test func audioWithoutVideoBecomesVariants() throws {
        let result = try translate(
            manifest("<Period>\(audioSet("a", language: "en"))\(audioSet("b", language: "fr"))</Period>")
        )
        #expect(result.multivariant.variants.map(\.uri) == ["audio-a.m3u8"])
        #expect(result.multivariant.renditions.map(\.uri) == ["audio-a.m3u8", "audio-b.m3u8"])
    }

    @Test(arguments: ["avc;.640028", "avc1.640028 x", "avc1{$x}", "", "\u{E9}vc1"])
    func codecsOfAnotherFormAreLeftOut(_ codecs: String) throws {
        let set = """
            <AdaptationSet mimeType="video/mp4"><SegmentTemplate duration="4" initialization="i.mp4" media="$Number$.m4s"/>
            <Representation id="1" bandwidth="1" codecs="\(codecs)"/><Representation id="2" bandwidth="2" codecs="avc1.64001f"/>
            </AdaptationSet>
            """
        let result = try translate(manifest("<Period>\(set)</Period>"))
        #expect(result.multivariant.variants.map { $0.attributes["CODECS"] } == [nil, "avc1.64001f"])
    }

    @Test func eventsBecomeDateRangesOfAllPlaylists() throws {
        let events = """
            <EventStream schemeIdUri="urn:example:events" value="7" timescale="10" presentationTimeOffset="100">
            <Event presentationTime="150" duration="25" id="1">say "hi"</Event><Event presentationTime="160" id="2"/>
            </EventStream>
            <EventStream schemeIdUri="urn:scte:scte35:2014:xml+bin"><Event presentationTime="4" id="9">
            <Signal xmlns="http://www.scte.org/schemas/35/2016"><Binary>/DAI AAAAAAAAAAA=</Binary></Signal></Event></EventStream>
            """
        let result = try translate(manifest(#"<Period id="p">\#(events)\#(videoSet)</Period>"#))
        for entry in result.playlists {
            let ranges = try entry.playlist.dateRanges
            #expect(
                ranges.map(\.id) == [
                    "id:p/urn:example:events/7/1", "id:p/urn:example:events/7/2",
                    "id:p/urn:scte:scte35:2014:xml+bin//9",
                ]
            )
            #expect(
                ranges.map(\.classIdentifier) == [
                    "urn:example:events", "urn:example:events", "urn:scte:scte35:2014:xml+bin",
                ]
            )
            #expect(ranges[0].startDate?.sinceEpoch == 5)
            #expect(ranges[0].duration == MediaTime(value: 5, timescale: 2))
            #expect(ranges[0]["X-MESSAGE-DATA"] == "say 'hi'")
            #expect(ranges[2]["SCTE35-CMD"] == "0xFC30080000000000000000")
            #expect(try entry.playlist.segments.first?.programDateTime?.sinceEpoch == .zero)
        }
    }

    @Test(arguments: [
        (#"defaultServiceLocation="b""#, "steer?x=1", "https://example.test/a/steer?x=1", ["b", "cdn-a"]),
        ("", "https://other.test/s&#10;&quot;", "https://other.test/s%0A%22", ["cdn-a", "b"]),
    ])
    func serviceLocationsArePathways(_ attribute: String, _ text: String, _ server: String, _ pathways: [String]) throws
    {
        let steering = "<ContentSteering \(attribute)>\(text)</ContentSteering>"
        let bases =
            #"<BaseURL serviceLocation="cdn-a&quot; ">https://a.test/v/</BaseURL><BaseURL serviceLocation="b">w/</BaseURL>"#
        // A relative base URL is resolved against that of each location.
        let sets = "<BaseURL>x/</BaseURL>" + videoSet + audioSet("a1", language: "en")
        let result = try translate(manifest(bases + steering + "<Period>\(sets)</Period>"))
        let carried = try #require(result.multivariant.contentSteering)
        #expect(carried.serverURI == server && carried.pathwayID == pathways[0])
        let variants = result.multivariant.variants
        #expect(Set(variants.map(\.pathwayID)) == Set(pathways) && variants.first?.pathwayID == pathways[0])
        for variant in variants {
            let base = variant.pathwayID == "b" ? "https://example.test/a/w/x/" : "https://a.test/v/x/"
            let group = try #require(variant.groupID(.audio))
            let rendition = try #require(result.multivariant.renditions.first { $0.groupID == group })
            for uri in [variant.uri, try #require(rendition.uri)] {
                let entry = try #require(result.playlists.first { $0.fileName == uri })
                let addresses = try entry.playlist.segments.map(\.address.text)
                #expect(!addresses.isEmpty && addresses.allSatisfy { $0.hasPrefix(base) })
            }
        }
        #expect(result.losses.isEmpty)
    }

    @Test func locationsOfSegmentIndexesArePathwaysToo() throws {
        let steering = "<ContentSteering>https://steer.test/</ContentSteering>"
        let bases =
            #"<BaseURL serviceLocation="a">https://a.test/</BaseURL><BaseURL serviceLocation="b">https://b.test/</BaseURL>"#
        let set = """
            <AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1" codecs="avc1.64001f">
            <BaseURL>1.mp4</BaseURL><SegmentBase indexRange="100-143"><Initialization range="0-99"/></SegmentBase></Representation></AdaptationSet>
            """
        let presentation = try manifest(bases + steering + "<Period>\(set)</Period>")
        var translator = PresentationTranslator()
        let index = try #require(try translator.requiredIndexes(of: presentation, at: .zero).first)
        let segment = IndexedSegment(
            time: .zero,
            duration: 4,
            byteRange: try #require(ByteRange(start: 144, length: 9))
        )
        let result = try translator.translate(presentation, indexes: [index: IndexedFile([segment])], at: .zero)
        let addresses = try result.playlists.map { try $0.playlist.segments.first?.address.text }
        #expect(addresses == ["https://a.test/1.mp4", "https://b.test/1.mp4"])
        #expect(Set(result.playlists.map(\.fileName)).count == 2)
    }

    @Test(arguments: ["<ContentSteering/>", "<ContentSteering>file:///etc/passwd</ContentSteering>"])
    func contentSteeringWithoutServerIsLost(_ steering: String) throws {
        let result = try translate(manifest(steering + "<Period>\(videoSet)</Period>"))
        #expect(result.multivariant.contentSteering == nil)
        #expect(result.multivariant.variants.allSatisfy { $0.pathwayID == "." })
        #expect(result.losses.map(\.code) == [.contentSteering])
    }

    @Test func hostileTextCannotAddLinesOrAttributes() throws {
        let video = videoSet.replacing("$Number$.m4s", with: "$Number$ &#10;#EXT-X-ENDLIST&quot;{$x}.m4s")
        let audio = audioSet("a&#10;b", language: "en\",X=1", contents: "<Label>a&#10;\"b\"{$x}e&#x301;</Label>")
        let result = try translate(
            manifest(#"<Period>\#(video)\#(audio)</Period>"#.replacing("en\",X=1", with: "en&quot;,X=1"))
        )
        #expect(result.multivariant.renditions.map(\.name) == ["a'b'{ $x}e"])
        #expect(result.losses.map(\.code) == [.invalidLanguage])
        let segments = try result.playlist("video-v1.m3u8").segments
        #expect(segments.count == 5)
        #expect(segments[0].uri == "https://example.test/a/v1/1%20%0A#EXT-X-ENDLIST%22%7B$x}.m4s")
    }

    @Test func limitsAreEnforced() throws {
        let presentation = try manifest(
            "<Period>\(videoSet)</Period>",
            attributes: #"type="static" mediaPresentationDuration="PT400S""#
        )
        for limits in [TranslationLimits(segmentCount: 150), TranslationLimits(byteCount: 4_000)] {
            var translator = PresentationTranslator(limits: limits)
            let error = #expect(throws: TranslationError.self) { try translator.translate(presentation, at: testNow) }
            guard case .tooLarge? = error else {
                Issue.record("\(limits) was not enforced")
                continue
            }
        }
        var translator = PresentationTranslator(limits: TranslationLimits(playlistCount: 1))
        let result = try translator.translate(presentation, at: testNow)
        #expect(result.playlists.count == 1)
        #expect(result.losses.map(\.code) == [.tooManyTracks])
    }
}
