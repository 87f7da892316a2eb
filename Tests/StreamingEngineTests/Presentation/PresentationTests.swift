import HLSPlaylist
import MediaTiming
import ResourceAddressing
import StreamingEngine
import Testing

@Suite struct PresentationTests {
    private static let film = """
        #EXTM3U
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-START:TIME-OFFSET=-12.5,PRECISE=YES
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="English",LANGUAGE="en",DEFAULT=YES,CHANNELS="2",URI="aac/en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES,CHANNELS="2",URI="aac/de.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="ac3",NAME="English",LANGUAGE="en",DEFAULT=YES,CHANNELS="6",URI="ac3/en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="ac3",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES,CHANNELS="6"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="subs",NAME="English",LANGUAGE="en",AUTOSELECT=YES,URI="subs/en.m3u8"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="CC",INSTREAM-ID="CC1"
        #EXT-X-MEDIA:TYPE=SMELL,GROUP-ID="x",NAME="Roses"
        #EXT-X-STREAM-INF:BANDWIDTH=2200000,AVERAGE-BANDWIDTH=1900000,CODECS="avc1.4d401f,mp4a.40.2",RESOLUTION=1280x720,\
        FRAME-RATE=29.970,AUDIO="aac",SUBTITLES="subs",CLOSED-CAPTIONS="cc",NAME="720p"
        v/720.m3u8?t=%2f
        #EXT-X-STREAM-INF:BANDWIDTH=2600000,CODECS="avc1.4d401f,ac-3",RESOLUTION=1280x720,AUDIO="ac3",SUBTITLES="subs"
        v/720.m3u8?t=%2f
        #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2",AUDIO="aac"
        aac/en.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=90000,RESOLUTION=640x360,URI="i360.m3u8"
        #EXT-X-SESSION-KEY:METHOD=AES-128,URI="key"
        #EXT-X-CONTENT-STEERING:SERVER-URI="/steer",PATHWAY-ID="A"
        """.replacing("\\\n", with: "")

    @Test(
        arguments: [
            ("", nil), ("#EXT-X-SESSION-DATA:DATA-ID=\"com.apple.hls.title\",VALUE=\"A film\"", "A film"),
            ("#EXT-X-SESSION-DATA:DATA-ID=\"com.apple.hls.title\",URI=\"title.json\"", nil),
            ("#EXT-X-SESSION-DATA:DATA-ID=\"com.example.title\",VALUE=\"Other\"", nil),
            (
                "#EXT-X-SESSION-DATA:DATA-ID=\"com.apple.hls.title\",VALUE=\"Ein Film\",LANGUAGE=\"de\"\n"
                    + "#EXT-X-SESSION-DATA:DATA-ID=\"com.apple.hls.title\",VALUE=\"A film\"",
                "A film"
            ),
            ("#EXT-X-SESSION-DATA:DATA-ID=\"com.apple.hls.title\",VALUE=\"Ein Film\",LANGUAGE=\"de\"", "Ein Film"),
        ] as [(String, String?)]
    )
    func theTitleIsThatOfTheSessionData(lines: String, title: String?) throws {
        #expect(Presentation(try multivariant(Self.film + "\n" + lines + "\n")).title == title)
    }

    /// One character can have millions of combining marks, which would be laid out again for each frame of the window.
    @Test func theTitleIsShortHoweverManyCombiningMarksACharacterHas() throws {
        let marks = String(repeating: "\u{301}", count: 100_000)
        let lines = "#EXT-X-SESSION-DATA:DATA-ID=\"com.apple.hls.title\",VALUE=\"a\u{7F}e\(marks)\"\n"
        let title = try #require(Presentation(try multivariant(Self.film + "\n" + lines)).title)
        #expect(title.unicodeScalars.count == 1_024 && title.unicodeScalars.starts(with: "a e".unicodeScalars))
    }

    @Test func aVariantHasTheAttributesOfThePlaylist() throws {
        let presentation = Presentation(try multivariant(Self.film))
        let variant = try #require(presentation.variants.first)
        #expect(presentation.variants.count == 3 && presentation.unplayable.isEmpty)
        #expect(variant.address.text == "https://example.com/v/720.m3u8?t=%2f")
        #expect(variant.peakBitRate == BitRate(bitsPerSecond: 2_200_000))
        #expect(variant.typicalBitRate == BitRate(bitsPerSecond: 1_900_000))
        #expect(variant.codecs.video == ["avc1.4d401f"] && variant.codecs.audio == ["mp4a.40.2"])
        #expect(variant.resolution == Resolution(width: 1280, height: 720) && variant.name == "720p")
        #expect(variant.frameRate == seconds("29.97") && !variant.isAudioOnly && !variant.isIFramesOnly)
        #expect(variant.location.groupIDs == [.audio: "aac", .subtitles: "subs", .closedCaptions: "cc"])
        #expect(presentation.variants.map(\.isAudioOnly) == [false, false, true])
        #expect(presentation.iFrameVariants.map(\.address.text) == ["https://example.com/i360.m3u8"])
        #expect(presentation.start?.offset == seconds("-12.5") && presentation.hasIndependentSegments)
        #expect(presentation.sessionKeys.count == 1 && presentation.contentSteering?.pathwayID == "A")
    }

    /// If both had the same identity, segments of the variant would be mistaken for those of the I-frame playlist, and
    /// fetched again without end.
    @Test func anIFrameVariantHasAnotherIdentityThanAVariantWithTheSameAttributes() throws {
        let presentation = Presentation(
            try multivariant(
                """
                #EXTM3U
                #EXT-X-STREAM-INF:BANDWIDTH=200000
                video.m3u8
                #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=200000,URI="i-frames.m3u8"
                """
            )
        )
        let variant = try #require(presentation.variants.first)
        let iFrames = try #require(presentation.iFrameVariants.first)
        #expect(variant.id != iFrames.id)
        #expect(presentation.variant(variant.id)?.address.text == "https://example.com/video.m3u8")
        #expect(presentation.variant(iFrames.id)?.address.text == "https://example.com/i-frames.m3u8")
    }

    @Test func anOptionHasAnEncodingInEachGroup() throws {
        let presentation = Presentation(try multivariant(Self.film))
        #expect(presentation.groups.map(\.type) == [.audio, .subtitles, .closedCaptions])
        let audio = try #require(presentation.group(.audio))
        #expect(audio.options.map(\.name) == ["English", "Deutsch"] && audio.defaultOption?.name == "English")
        let german = try #require(audio.options.last)
        #expect(german.channelCount == 6 && german.encodings.map(\.groupID) == ["aac", "ac3"])
        let (stereo, surround) = (presentation.variants[0].location, presentation.variants[1].location)
        #expect(stereo.encoding(of: german)?.address?.text == "https://example.com/aac/de.m3u8")
        #expect(surround.encoding(of: german)?.channels?.count == 6)
        // An option without an address is in the variant itself.
        #expect(surround.encoding(of: german) != nil && surround.encoding(of: german)?.address == nil)
        #expect(presentation.group(.closedCaptions)?.options.first?.instreamID == "CC1")
        #expect(presentation.group(.closedCaptions)?.allowsEmptySelection == true && !audio.allowsEmptySelection)
    }

    @Test func identitiesDoNotDependOnAddresses() throws {
        let first = Presentation(try multivariant(Self.film))
        let signed = Self.film.replacing("?t=%2f", with: "?t=other").replacing(".m3u8\"", with: ".m3u8?s=1\"")
        let again = Presentation(try multivariant(signed))
        #expect(first.variants.map(\.id) == again.variants.map(\.id))
        #expect(Set(first.variants.map(\.id)).count == 3)
        #expect(first.groups.flatMap(\.options).map(\.id) == again.groups.flatMap(\.options).map(\.id))
        #expect(again.variant(first.variants[1].id)?.address.text == "https://example.com/v/720.m3u8?t=other")
        #expect(first.variant(first.iFrameVariants[0].id)?.isIFramesOnly == true)
    }

    @Test func variantsThatDifferOnlyInTheirLocationAreMerged() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a1",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="one/en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a2",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="two/en.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a1",PATHWAY-ID="one"
            one/v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a1",PATHWAY-ID="one"
            backup/v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a2",PATHWAY-ID="two"
            two/v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=1600000,AUDIO="a2",PATHWAY-ID="two"
            two/w.m3u8
            """
        let presentation = Presentation(try multivariant(text))
        try #require(presentation.variants.count == 2)
        let variant = presentation.variants[0]
        #expect(variant.locations.map(\.pathwayID) == ["one", "one", "two"])
        #expect(variant.locations(on: "one").map(\.address.lastPathComponent) == ["v.m3u8", "v.m3u8"])
        #expect(presentation.pathways == ["one", "two"])
        let english = try #require(presentation.group(.audio)?.options.first)
        #expect(
            variant.locations.map { $0.encoding(of: english)?.address?.text } == [
                "https://example.com/one/en.m3u8", "https://example.com/one/en.m3u8", "https://example.com/two/en.m3u8",
            ]
        )
    }

    @Test func equalVideoWithAudioInOtherLanguagesIsAnotherVariant() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="en",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="de",NAME="Deutsch",LANGUAGE="de",URI="de.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="en"
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="de"
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=400000
            muxed.m3u8
            """
        let presentation = Presentation(try multivariant(text))
        let options = try #require(presentation.group(.audio)?.options)
        try #require(presentation.variants.count == 3 && options.count == 2)
        var selection = MediaSelection()
        selection[.audio] = options[1]
        #expect(presentation.variants(for: selection).map(\.location.groupIDs) == [[.audio: "de"]])
        selection[.audio] = options[0]
        #expect(presentation.variants(for: selection).map(\.address.lastPathComponent) == ["v.m3u8", "muxed.m3u8"])
        #expect(presentation.variants(for: MediaSelection()).count == 3)
    }

    @Test(arguments: [
        (#"CODECS="avc1.4d401f,xxxx.1""#, PlaybackObstacle.codec("xxxx.1")),
        ("VIDEO-RANGE=HOLO", .videoRange(VideoRange(rawValue: "HOLO"))),
        (#"REQ-VIDEO-LAYOUT="CH-STEREO/PROJ-HEQU""#, .videoLayout("CH-STEREO")),
        ("HDCP-LEVEL=TYPE-0", .hdcp(.type0)),
        ("HDCP-LEVEL=TYPE-9", .hdcp(HDCPLevel(rawValue: "TYPE-9"))),
        (#"ALLOWED-CPC="com.example.drm:SMART""#, .keyFormats(["com.example.drm"])),
    ])
    func unplayableVariantsHaveTheReason(attribute: String, obstacle: PlaybackObstacle) throws {
        let text =
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,\(attribute)\nbad.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=2\ngood.m3u8\n"
        let capabilities = PlaybackCapabilities { !$0.hasPrefix("xxxx") }
        let presentation = Presentation(try multivariant(text), capabilities: capabilities)
        #expect(presentation.variants.map(\.address.lastPathComponent) == ["good.m3u8"])
        #expect(presentation.unplayable.first?.obstacles.first == obstacle)
    }

    @Test(arguments: [HDCPLevel.type0, .type1])
    func aProtectedOutputPlaysVariantsUpToItsLevel(level: HDCPLevel) throws {
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,HDCP-LEVEL=TYPE-0\na.m3u8\n"
        let capabilities = PlaybackCapabilities(hdcpLevel: level)
        #expect(Presentation(try multivariant(text), capabilities: capabilities).unplayable.isEmpty)
    }

    @Test(arguments: [(#"KEYFORMAT="com.example.drm""#, 0), (#"KEYFORMAT="identity""#, 1), ("", 1)])
    func allVariantsAreUnplayableIfOnlyDRMKeysAreDeclared(format: String, playable: Int) throws {
        let text = """
            #EXTM3U
            #EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="a",KEYFORMAT="com.example.drm"
            #EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="b",\(format)
            #EXT-X-STREAM-INF:BANDWIDTH=1
            a.m3u8
            """
        let presentation = Presentation(try multivariant(text))
        #expect(presentation.variants.count == playable)
        #expect(presentation.unplayable.allSatisfy { $0.obstacles == [.keyFormats(["com.example.drm"])] })
    }

    @Test func aMediaPlaylistIsAPresentationOfOneVariant() throws {
        let presentation = Presentation(.media(try LiveWindowText().playlist))
        #expect(presentation.variants.map(\.address.text) == ["https://example.com/live/video.m3u8"])
        #expect(presentation.groups.isEmpty && presentation.variants.first?.peakBitRate == nil)
        let iFrames = try media("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-I-FRAMES-ONLY\n#EXTINF:2,\na\n")
        #expect(Presentation(iFrames).variants.isEmpty && Presentation(iFrames).iFrameVariants.count == 1)
    }

    @Test func scoresAreUsedOnlyIfAllVariantsHaveOne() throws {
        let all = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,SCORE=1.5\na\n#EXT-X-STREAM-INF:BANDWIDTH=2,SCORE=2\nb\n"
        #expect(Presentation(try multivariant(all)).isScored)
        #expect(!Presentation(try multivariant(all.replacing(",SCORE=2", with: ""))).isScored)
    }
}
