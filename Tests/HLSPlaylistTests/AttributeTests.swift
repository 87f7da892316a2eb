import HLSPlaylist
import MediaTiming
import ReportFormat
import ResourceAddressing
import Testing

/// Tests that every attribute of the standard is parsed as its type.
@Suite struct AttributeTests {
    private func multivariant(_ lines: String...) throws -> MultivariantPlaylist {
        let text = (["#EXTM3U"] + lines + ["#EXT-X-STREAM-INF:BANDWIDTH=1", "v.m3u8", ""]).joined(separator: "\n")
        let context = PlaylistContext(address: ResourceAddress("https://h/a/m.m3u8"))
        return try MultivariantPlaylist(parsing: Array(text.utf8), context: context)
    }

    private func media(_ lines: String...) throws -> MediaPlaylist {
        let text = (["#EXTM3U"] + lines + ["#EXTINF:4,", "s.ts", ""]).joined(separator: "\n")
        let context = PlaylistContext(address: ResourceAddress("https://h/a/m.m3u8"))
        return try MediaPlaylist(parsing: Array(text.utf8), context: context)
    }

    /// Returns the field of `inspect --json` with a name, as JSON on one line; `nil` if the playlist does not have it.
    private func reported(_ name: String, of playlist: Playlist) -> String? {
        guard case .object(let fields) = playlist.report else { return nil }
        return fields.first { $0.name == name }?.value.json
    }

    @Test func startIsReported() throws {
        let (line, json) = ("#EXT-X-START:TIME-OFFSET=-3.5,PRECISE=YES", #"{"offset":-3.5,"precise":true}"#)
        #expect(try reported("start", of: .media(media(line))) == json)
        #expect(try reported("start", of: .multivariant(multivariant(line))) == json)
        #expect(try reported("start", of: .media(media("#EXT-X-START:PRECISE=YES"))) == nil)
    }

    @Test func variantAttributesAreParsed() throws {
        let playlist = try multivariant(
            """
            #EXT-X-STREAM-INF:BANDWIDTH=5000000,AVERAGE-BANDWIDTH=4000000,SCORE=2.5,CODECS="hvc1.2.4.L120.B0,ec-3",\
            SUPPLEMENTAL-CODECS="dvh1.08.07/db4h/cdm4,av01.0",RESOLUTION=1920x1080,FRAME-RATE=59.940,HDCP-LEVEL=TYPE-1,\
            ALLOWED-CPC="com.example.a:SMART/PC,com.example.b:",VIDEO-RANGE=PQ,REQ-VIDEO-LAYOUT="CH-STEREO,CH-MONO",\
            STABLE-VARIANT-ID="v1",AUDIO="a",VIDEO="v",SUBTITLES="s",CLOSED-CAPTIONS="c",PATHWAY-ID="east",NAME="Best"
            """,
            "best.m3u8"
        )
        let variant = try #require(playlist.variants.first)
        #expect(variant.bandwidth == BitRate(bitsPerSecond: 5_000_000))
        #expect(variant.averageBandwidth == BitRate(bitsPerSecond: 4_000_000) && variant.score == 2.5)
        #expect(variant.codecs == ["hvc1.2.4.L120.B0", "ec-3"])
        #expect(variant.supplementalCodecs.map(\.codec) == ["dvh1.08.07", "av01.0"])
        #expect(variant.supplementalCodecs.map(\.brands) == [["db4h", "cdm4"], []])
        #expect(variant.resolution == Resolution(width: 1920, height: 1080))
        #expect(variant.frameRate?.description == "59.94" && variant.hdcpLevel == .type1 && variant.videoRange == .pq)
        #expect(variant.allowedContentProtection.map(\.keyFormat) == ["com.example.a", "com.example.b"])
        #expect(variant.allowedContentProtection.map(\.labels) == [["SMART", "PC"], []])
        #expect(variant.requiredVideoLayouts == ["CH-STEREO", "CH-MONO"] && variant.stableID == "v1")
        #expect(Rendition.MediaType.allCases.map { variant.groupID($0) } == ["a", "v", "s", "c"])
        #expect(variant.pathwayID == "east" && variant.name == "Best" && !variant.isIFramesOnly)
        let plain = playlist.variants[1]
        #expect(plain.pathwayID == "." && plain.videoRange == nil && plain.score == nil && plain.codecs.isEmpty)
    }

    @Test(
        arguments: [("-1", nil), ("nan", nil), ("inf", nil), ("x", nil), ("0", 0), ("1.25", 1.25)]
            as [(String, Double?)]
    )
    func scoreIsParsedAsNonnegativeDecimal(text: String, expected: Double?) throws {
        let playlist = try multivariant("#EXT-X-STREAM-INF:BANDWIDTH=1,SCORE=\(text)", "a")
        #expect(playlist.variants[0].score == expected)
    }

    @Test func renditionAttributesAreParsed() throws {
        let playlist = try multivariant(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,URI="a.m3u8",GROUP-ID="g",LANGUAGE="en",ASSOC-LANGUAGE="fr",NAME="N",\
            STABLE-RENDITION-ID="r1",DEFAULT=YES,AUTOSELECT=YES,FORCED=NO,BIT-DEPTH=24,SAMPLE-RATE=48000,\
            CHARACTERISTICS="public.a,public.b",CHANNELS="12/JOC,-/BINAURAL,DOWNMIX"
            """,
            "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"c\",NAME=\"C\",INSTREAM-ID=\"SERVICE3\"",
            "#EXT-X-MEDIA:TYPE=HOLOGRAM,GROUP-ID=\"h\",NAME=\"H\",CHANNELS=\"many\""
        )
        let audio = playlist.renditions[0]
        #expect(audio.type == .audio && audio.uri == "a.m3u8" && audio.address?.text == "https://h/a/a.m3u8")
        #expect(audio.groupID == "g" && audio.name == "N" && audio.language == "en")
        #expect(audio.associatedLanguage == "fr" && audio.stableID == "r1" && audio.instreamID == nil)
        #expect(audio.isDefault && audio.isAutoselect && !audio.isForced)
        #expect(audio.bitDepth == 24 && audio.sampleRate == 48_000)
        #expect(audio.characteristics == ["public.a", "public.b"])
        #expect(audio.channels?.count == 12 && audio.channels?.spatialFormats == ["JOC"])
        #expect(audio.channels?.usages == ["BINAURAL", "DOWNMIX"])
        #expect(playlist.renditions[1].type == .closedCaptions && playlist.renditions[1].instreamID == "SERVICE3")
        #expect(playlist.renditions[2].type == nil && playlist.renditions[2].channels == nil)
    }

    @Test func sessionDataKeysAndSteeringAreParsed() throws {
        let playlist = try multivariant(
            "#EXT-X-DEFINE:NAME=\"x\",VALUE=\"y\"",
            "#EXT-X-SESSION-DATA:DATA-ID=\"com.example.a\",VALUE=\"{$x}\",LANGUAGE=\"en\"",
            "#EXT-X-SESSION-DATA:DATA-ID=\"com.example.b\",URI=\"b.bin\",FORMAT=RAW",
            "#EXT-X-SESSION-DATA:VALUE=\"without a name\"",
            "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"k\",KEYFORMAT=\"com.example\",KEYFORMATVERSIONS=\"1/3\"",
            "#EXT-X-CONTENT-STEERING:SERVER-URI=\"/steer?a=1\",PATHWAY-ID=\"east\""
        )
        #expect(playlist.sessionData.map(\.dataID) == ["com.example.a", "com.example.b"])
        #expect(playlist.sessionData[0].value == "y" && playlist.sessionData[0].language == "en")
        #expect(playlist.sessionData[1].address?.text == "https://h/a/b.bin" && playlist.sessionData[1].format == .raw)
        let key = try #require(playlist.sessionKeys.first)
        #expect(key.method == .sampleAES && key.keyFormat == "com.example" && key.keyFormatVersions == [1, 3])
        #expect(playlist.contentSteering?.serverAddress.text == "https://h/steer?a=1")
        #expect(playlist.contentSteering?.pathwayID == "east")
    }

    @Test func keyMethodsAndInitializationVectorsAreParsed() throws {
        let methods: [EncryptionKey.Method] = [.aes128, .sampleAES, .sampleAESCTR, .aes256GCM]
        for method in methods {
            let playlist = try media("#EXT-X-KEY:METHOD=\(method.rawValue),URI=\"k\",IV=0x0A")
            let key = try #require(playlist.segments[0].keys.first)
            #expect(key.method == method && key.isIdentity && key.keyFormatVersions == [1])
            #expect(key.vector(forSequence: 5) == [UInt8](repeating: 0, count: 15) + [10])
        }
        let plain = try #require(try media("#EXT-X-KEY:METHOD=AES-128,URI=\"k\"").segments[0].keys.first)
        #expect(plain.vector(forSequence: 0x0102) == [UInt8](repeating: 0, count: 14) + [1, 2])
    }

    @Test(arguments: ["0x", "10", "0xg0", "0x0123456789ABCDEF0123456789ABCDEF01"])
    func invalidInitializationVectorIsNil(text: String) throws {
        let key = try media("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=\(text)").segments[0].keys.first
        #expect(try #require(key).vector(forSequence: 1) == nil)
    }

    @Test func mediaPlaylistTagsAreParsed() throws {
        let playlist = try media(
            "#EXT-X-VERSION:10",
            "#EXT-X-TARGETDURATION:4",
            "#EXT-X-MEDIA-SEQUENCE:7",
            "#EXT-X-DISCONTINUITY-SEQUENCE:3",
            "#EXT-X-PLAYLIST-TYPE:EVENT",
            "#EXT-X-I-FRAMES-ONLY",
            "#EXT-X-INDEPENDENT-SEGMENTS",
            "#EXT-X-START:TIME-OFFSET=-3.5,PRECISE=YES",
            "#EXT-X-PART-INF:PART-TARGET=0.5",
            """
            #EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24,CAN-SKIP-DATERANGES=YES,HOLD-BACK=12,PART-HOLD-BACK=1.5,\
            CAN-BLOCK-RELOAD=YES
            """,
            "#EXT-X-SKIP:SKIPPED-SEGMENTS=4,RECENTLY-REMOVED-DATERANGES=\"a\tb\""
        )
        #expect(playlist.version == 10 && playlist.targetDuration == MediaTime(seconds: 4))
        #expect(playlist.mediaSequence == 7 && playlist.segments[0].sequence == 11)
        #expect(playlist.discontinuitySequence == 3 && playlist.playlistType == .event)
        #expect(playlist.isIFramesOnly && playlist.hasIndependentSegments && !playlist.hasEndMarker)
        #expect(playlist.start?.offset.description == "-3.5" && playlist.start?.isPrecise == true)
        #expect(playlist.partTargetDuration?.description == "0.5" && playlist.skippedSegmentCount == 4)
        #expect(playlist.recentlyRemovedDateRanges == ["a", "b"])
        let control = try #require(playlist.serverControl)
        #expect(control.canSkipUntil == MediaTime(seconds: 24) && control.canSkipDateRanges && control.canBlockReload)
        #expect(control.holdBack == MediaTime(seconds: 12) && control.partHoldBack?.description == "1.5")
    }

    @Test func partsHintsAndReportsAreParsed() throws {
        let playlist = try media(
            "#EXT-X-PART:URI=\"p\",DURATION=0.5,INDEPENDENT=YES,BYTERANGE=\"10@5\"",
            "#EXT-X-PART:URI=\"p\",DURATION=0.5,GAP=YES",
            "#EXT-X-PRELOAD-HINT:TYPE=MAP,URI=\"i.mp4\",BYTERANGE-START=5,BYTERANGE-LENGTH=6",
            "#EXT-X-RENDITION-REPORT:URI=\"b.m3u8\",LAST-MSN=9,LAST-PART=2",
            "#EXT-X-BITRATE:800",
            "#EXT-X-GAP",
            "#EXT-X-MAP:URI=\"i.mp4\",BYTERANGE=\"7@8\""
        )
        let segment = playlist.segments[0]
        #expect(segment.parts.map(\.isIndependent) == [true, false] && segment.parts.map(\.isGap) == [false, true])
        #expect(
            segment.parts[0].byteRange == ByteRange(start: 5, length: 10) && segment.parts[0].duration.seconds == 0.5
        )
        let hint = try #require(playlist.preloadHints.first)
        #expect(hint.type == "MAP" && hint.byteRangeStart == 5 && hint.byteRangeLength == 6)
        let report = try #require(playlist.renditionReports.first)
        #expect(report.uri == "b.m3u8" && report.lastMediaSequence == 9 && report.lastPart == 2)
        #expect(segment.bitRate == BitRate(bitsPerSecond: 800_000) && segment.isGap)
        #expect(segment.map?.byteRange == ByteRange(start: 8, length: 7))
    }

    @Test func dateRangeAttributesAreParsed() throws {
        let range = try #require(
            try media(
                """
                #EXT-X-DATERANGE:ID="i",CLASS="com.apple.hls.interstitial",START-DATE="2024-01-01T00:00:00Z",CUE="PRE,ONCE",\
                END-DATE="2024-01-01T00:00:30Z",DURATION=30,PLANNED-DURATION=31.5,SCTE35-CMD=0xFC30,SCTE35-OUT=0xFC31,\
                SCTE35-IN=0xFC32,END-ON-NEXT=YES,X-ASSET-URI="ad.m3u8",X-ASSET-LIST="/list.json",X-RESUME-OFFSET=-2.5,\
                X-PLAYOUT-LIMIT=15,X-SNAP="OUT,IN",X-RESTRICT="SKIP,JUMP",X-CONTENT-MAY-VARY="NO",\
                X-TIMELINE-OCCUPIES="RANGE",X-TIMELINE-STYLE="PRIMARY",X-SKIP-CONTROL-OFFSET=5,X-SKIP-CONTROL-DURATION=10,\
                X-SKIP-CONTROL-LABEL-ID="label"
                """
            ).dateRanges.first
        )
        #expect(range.startDate?.description == "2024-01-01T00:00:00.000Z" && range.cues == [.pre, .once])
        #expect(range.endDate?.description == "2024-01-01T00:00:30.000Z" && range.endsOnNext)
        #expect(range.duration?.seconds == 30 && range.plannedDuration?.seconds == 31.5)
        #expect(
            range.spliceCommand == [0xFC, 0x30] && range.spliceOut == [0xFC, 0x31] && range.spliceIn == [0xFC, 0x32]
        )
        let interstitial = try #require(range.interstitial)
        #expect(interstitial.assetAddress?.text == "https://h/a/ad.m3u8")
        #expect(interstitial.assetListAddress?.text == "https://h/list.json")
        #expect(interstitial.resumeOffset?.seconds == -2.5 && interstitial.playoutLimit?.seconds == 15)
        #expect(interstitial.snaps == [.out, .in] && interstitial.restrictions == [.skip, .jump])
        #expect(!interstitial.mayVary && interstitial.timelineOccupation == .range)
        #expect(interstitial.timelineStyle == .primary && interstitial.skipControlOffset?.seconds == 5)
        #expect(interstitial.skipControlDuration?.seconds == 10 && interstitial.skipControlLabelID == "label")
        #expect(range.preload == nil)
    }

    @Test func preloadDateRangeIsParsed() throws {
        func preload(_ attributes: String) throws -> DateRangePreload? {
            let tag = "#EXT-X-DATERANGE:ID=\"i\",CLASS=\"com.apple.hls.preload\",START-DATE=\"2024-01-01T00:00:00Z\","
            return try media(tag + attributes).dateRanges.first?.preload
        }
        let found = try preload("DURATION=10,X-URI=\"list.json\",X-TARGET-ID=\"t\",X-TARGET-CLASS=\"c\"")
        #expect(found?.address.text == "https://h/a/list.json" && found?.targetID == "t" && found?.targetClass == "c")
        #expect(try preload("DURATION=10,X-URI=\"list.json\",X-TARGET-ID=\"t\"") == nil)
    }

    @Test func dateRangeOfOtherClassIsNotAnInterstitial() throws {
        let range = try media("#EXT-X-DATERANGE:ID=\"i\",START-DATE=\"2024-01-01T00:00:00Z\"").dateRanges.first
        #expect(try #require(range).interstitial == nil && range?.cues.isEmpty == true)
    }

    /// Tags and attributes that the standard does not define, or no longer defines, but that occur in real playlists.
    @Test(
        arguments: [
            ("#EXT-X-ALLOW-CACHE:NO", "EXT-X-ALLOW-CACHE", "NO", nil),
            ("#EXT-X-CUE-OUT:30", "EXT-X-CUE-OUT", "30", nil),
            ("#EXT-X-CUE-OUT:DURATION=30", "EXT-X-CUE-OUT", "DURATION=30", "30"),
            ("#EXT-X-CUE-IN", "EXT-X-CUE-IN", nil, nil),
            ("#EXT-X-CUE-OUT-CONT:ElapsedTime=5,DURATION=30", "EXT-X-CUE-OUT-CONT", "ElapsedTime=5,DURATION=30", "30"),
            ("#EXT-OATCLS-SCTE35:/DAl==", "EXT-OATCLS-SCTE35", "/DAl==", nil),
            ("#EXT-X-SCTE35:DURATION=9,CUE=\"x\"", "EXT-X-SCTE35", "DURATION=9,CUE=\"x\"", "9"),
            (
                "#EXT-X-TILES:RESOLUTION=1x1,LAYOUT=5x2,DURATION=6", "EXT-X-TILES",
                "RESOLUTION=1x1,LAYOUT=5x2,DURATION=6", "6"
            ),
            ("#EXT-X-IMAGE-STREAM-INF:DURATION=7,URI=\"t\"", "EXT-X-IMAGE-STREAM-INF", "DURATION=7,URI=\"t\"", "7"),
        ] as [(String, String, String?, String?)]
    )
    func nonstandardTagsRemainAccessible(line: String, name: String, value: String?, duration: String?) throws {
        let playlist = try media(line)
        let tag = try #require(playlist.unknownTags.first)
        #expect(tag.name == name && tag.value == value && tag.attributes["DURATION"] == duration && tag.line == 2)
        let parsed = try MultivariantPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-STREAM-INF:PROGRAM-ID=1,BANDWIDTH=5\na\n\(line)\n".utf8)
        )
        #expect(parsed.unknownTags.map(\.name) == [name] && parsed.variants[0].attributes["PROGRAM-ID"] == "1")
    }
}
