import CostOperations

/// The shapes of playlists that edits change, which other operations do not need.
extension PlaylistShape {
    /// Renditions of every type, variants, I-frame variants, session keys and comments, in groups that variants share.
    ///
    /// Every second entry has the language, the codecs, the frame rate and the dynamic range that filters remove.
    static var tracksOfOneGroup: PlaylistShape {
        PlaylistShape("tracks-of-one-group") { count in
            repeated(count) { tracks($0, group: "g") }
        }
    }

    /// The same renditions and variants, in a group for each variant.
    static var tracksWithGroupsOfTheirOwn: PlaylistShape {
        PlaylistShape("tracks-with-groups-of-their-own") { count in
            repeated(count) { tracks($0, group: "g\($0)") }
        }
    }

    /// Returns the lines of an entry of a multivariant playlist.
    private static func tracks(_ number: Int, group: String) -> String {
        let isFirst = number.isMultiple(of: 2)
        let isPlain = number % 4 < 2
        let names = "GROUP-ID=\"\(group)\",NAME=\"N\(number)\""
        let language = "LANGUAGE=\"\(isFirst ? "en" : "ja")\""
        let channels = "CHANNELS=\"\(isPlain ? 2 : 6)\""
        let audio = "#EXT-X-MEDIA:TYPE=AUDIO,\(names),\(language),\(channels),URI=\"a\(number).m3u8\"\n"
        let spoken = isPlain ? ",CHARACTERISTICS=\"public.accessibility.transcribes-spoken-dialog\"" : ""
        let subtitles = "#EXT-X-MEDIA:TYPE=SUBTITLES,\(names),\(language),URI=\"s\(number).m3u8\"\(spoken)\n"
        let captions = "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,\(names),INSTREAM-ID=\"\(isFirst ? "CC1" : "SERVICE1")\"\n"
        let key = "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"k\(number)\"\n"
        let codecs = isFirst ? "avc1.4d401e,mp4a.40.2" : "hvc1.2.4.L93.B0,ec-3"
        let size = "RESOLUTION=\(640 + number)x\(360 + number % 5)"
        let range = isFirst ? "SDR" : "PQ"
        let formats = "CODECS=\"\(codecs)\",\(size),FRAME-RATE=\(isFirst ? 25 : 50),VIDEO-RANGE=\(range)"
        let groups = "AUDIO=\"\(group)\",SUBTITLES=\"\(group)\",CLOSED-CAPTIONS=\"\(group)\""
        let variant = "#EXT-X-STREAM-INF:BANDWIDTH=\(500_000 + 1_000 * number),SCORE=\(number),\(formats),\(groups)\n"
        let iFrames = "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=90000,RESOLUTION=640x360,URI=\"i\(number).m3u8\"\n"
        let uri = "v\(number).m3u8\n"
        return [audio, subtitles, captions, key, "# \(number)\n\n", variant, uri, iFrames].joined()
    }

    /// A subtitle file as the only segment, which lasts 4 s for each entry.
    static var oneSubtitleFile: PlaylistShape {
        PlaylistShape("one-file-of-subtitles") { count in
            "#EXT-X-TARGETDURATION:\(4 * count)\n#EXTINF:\(4 * count),\na.vtt\n#EXT-X-ENDLIST\n"
        }
    }

    /// Breaks of two segments, which tags announce.
    static var breaksOfCues: PlaylistShape {
        PlaylistShape("breaks-of-cues") { count in
            let cues = ["", "#EXT-X-CUE-OUT:8\n", "#EXT-X-CUE-OUT-CONT:4/8\n", "#EXT-X-CUE-IN\n"]
            return header + repeated(count) { cues[$0 % 4] + segment($0) } + end
        }
    }

    /// Breaks of two segments, which date ranges of one class announce.
    static var breaksOfOneClass: PlaylistShape {
        PlaylistShape("breaks-of-one-class") { count in
            header + repeated(count) { dated($0, $0 % 4 == 1 ? breakRange($0, "") : "") } + end
        }
    }

    /// Breaks of two segments, which date ranges with SCTE 35 commands announce.
    static var breaksOfCommands: PlaylistShape {
        PlaylistShape("breaks-of-commands") { count in
            header + repeated(count) { dated($0, $0 % 4 == 1 ? breakRange($0, ",SCTE35-OUT=\(command(8))") : "") } + end
        }
    }

    /// A break whose SCTE 35 command has a segmentation descriptor for each entry.
    static var oneCommandOfManyDescriptors: PlaylistShape {
        PlaylistShape("one-command-of-many-descriptors") { count in
            header + repeated(6) { dated($0, $0 == 1 ? breakRange($0, ",SCTE35-CMD=\(command(count))") : "") } + end
        }
    }

    /// Tags of one date range, each with another attribute, between segments with dates.
    static var dateRangesOfOneID: PlaylistShape {
        PlaylistShape("segments-with-one-date-range") { count in
            header
                + repeated(count) {
                    dated($0, "#EXT-X-DATERANGE:ID=\"d\",START-DATE=\"\(date(0))\",X-A\($0)=\"x\"\n")
                } + end
        }
    }

    /// Date ranges of one class that end with the next one, between segments with dates.
    static var dateRangesOfOneClass: PlaylistShape {
        PlaylistShape("segments-with-date-ranges-of-one-class") { count in
            header
                + repeated(count) {
                    dated($0, "#EXT-X-DATERANGE:ID=\"d\($0)\",CLASS=\"c\",START-DATE=\"\(date($0))\",END-ON-NEXT=YES\n")
                } + end
        }
    }

    /// A live playlist with low latency: every segment has parts, and hints follow the last one.
    static var lowLatency: PlaylistShape {
        PlaylistShape("low-latency") { count in
            header + "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=3\n#EXT-X-PART-INF:PART-TARGET=1\n"
                + repeated(count) { number in
                    dated(number, repeated(4) { "#EXT-X-PART:DURATION=1,URI=\"p\(number)-\($0).mp4\"\n" })
                } + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"p\(count)-0.mp4\"\n"
                + "#EXT-X-RENDITION-REPORT:URI=\"other.m3u8\",LAST-MSN=\(count),LAST-PART=0\n"
        }
    }

    /// A complete playlist of two segments, which edits insert in breaks.
    static var twoSegments: PlaylistShape {
        PlaylistShape("two-segments") { _ in header + segment(0) + segment(1) + end }
    }

    /// A complete playlist of eight segments, for edits whose cost depends on the address of the playlist.
    static var eightSegments: PlaylistShape {
        PlaylistShape("eight-segments") { _ in header + repeated(8, segment) + end }
    }

    /// Returns a segment with its date, after the given tags.
    private static func dated(_ number: Int, _ tags: String) -> String {
        "\(tags)#EXT-X-PROGRAM-DATE-TIME:\(date(number))\n\(segment(number))"
    }

    /// Returns the date range of a break of two segments.
    private static func breakRange(_ number: Int, _ more: String) -> String {
        let names = "ID=\"d\(number)\",CLASS=\"c\""
        return "#EXT-X-DATERANGE:\(names),START-DATE=\"\(date(number))\",DURATION=8\(more)\n"
    }

    /// Returns a splice information section in hexadecimal digits: a time signal with segmentation descriptors, each of
    /// which starts a break (ANSI/SCTE 35 §9.6 and §10.3.3).
    private static func command(_ descriptorCount: Int) -> String {
        // The lengths have at most 12 bits, so that the number of descriptors is limited.
        let count = min(descriptorCount, 180)
        let event: [UInt8] = [0, 0, 0, 1, 0x7F, 0xBF, 0, 0, 0x34, 0, 0]
        let descriptor: [UInt8] = [2, UInt8(event.count + 4)] + Array("CUEI".utf8) + event
        let descriptors = repeatedBytes(count) { _ in descriptor }
        let signal: [UInt8] = zeros(9) + [1, 6, 0x7F]
        let rest: [UInt8] = signal + bigEndian(descriptors.count, 2) + descriptors + zeros(4)
        let section: [UInt8] = [0xFC] + bigEndian(0x3000 | rest.count, 2) + rest
        let digits = section.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }
        return "0x" + digits.joined()
    }
}
