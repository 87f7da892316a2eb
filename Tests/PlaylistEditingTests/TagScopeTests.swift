import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing
import Testing

/// Tests of the playlists that edits of tags concern, and of edits that change nothing.
@Suite struct TagScopeTests {
    private static let media = "#EXTM3U\n#EXTINF:4,\na\n"
    private static let multivariant = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n"

    /// Returns the text of a playlist after a tag is set.
    private func set(
        _ assignment: String,
        _ text: String,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws -> String {
        let assignment = try #require(TagAssignment(assignment))
        let edited = try Playlist.parse(Array(text.utf8)).settingTag(assignment, limits: limits)
        return String(decoding: edited.bytes, as: UTF8.self)
    }

    private func strip(_ name: String, _ text: String, edit: String = "strip-tags") throws -> String {
        String(decoding: try Playlist.parse(Array(text.utf8)).removingTags([name], edit: edit).bytes, as: UTF8.self)
    }

    // MARK: Tags

    @Test func tagsAreSetInPlaylistsOfTheirKind() throws {
        let steering = "EXT-X-CONTENT-STEERING=SERVER-URI=\"/s\""
        #expect(try set(steering, Self.media) == Self.media)
        #expect(
            try set(steering, Self.multivariant)
                == "#EXTM3U\n#EXT-X-CONTENT-STEERING:SERVER-URI=\"/s\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n"
        )
        let type = "EXT-X-PLAYLIST-TYPE=VOD"
        #expect(try set(type, Self.multivariant) == Self.multivariant)
        #expect(try set(type, Self.media) == "#EXTM3U\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:4,\na\n")
        for tag in ["EXT-X-VERSION", "EXT-X-MINE"] {
            #expect(try set("\(tag)=1", Self.media) == "#EXTM3U\n#\(tag):1\n#EXTINF:4,\na\n")
            #expect(
                try set("\(tag)=1", Self.multivariant)
                    == "#EXTM3U\n#\(tag):1\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n"
            )
        }
    }

    @Test(arguments: [
        ("#EXTINF:4,\na\n", "#EXT-X-VERSION:7\n#EXTINF:4,\na\n"), ("#EXTM3U", "#EXTM3U\n#EXT-X-VERSION:7\n"),
        ("#EXTM3U\r\n", "#EXTM3U\r\n#EXT-X-VERSION:7\r\n"),
        ("#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-VERSION:7\n", "#EXTM3U\n#EXT-X-VERSION:7\n"),
        ("#EXTM3U\n  #EXT-X-VERSION:6  \n", "#EXTM3U\n  #EXT-X-VERSION:7  \n"),
    ])
    func tagIsSetWhereThePlaylistHasRoomForIt(text: String, expected: String) throws {
        #expect(try set("EXT-X-VERSION=7", text) == expected)
    }

    /// An edit that changes nothing cannot exceed a limit.
    @Test func tagThatHasTheValueIsUnchanged() throws {
        let limits = PlaylistLimits(byteCount: 1)
        let text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:4,\na\n"
        #expect(try set("EXT-X-VERSION=3", text, limits: limits) == text)
        #expect(throws: PlaylistEditError.tooLarge(.byteCount(1))) {
            try set("EXT-X-VERSION=4", text, limits: limits)
        }
    }

    @Test func resultMustBeAPlaylistOfTheSameKind() throws {
        let other = "a media playlist, but the other kind was expected"
        #expect(throws: PlaylistEditError.unreadableResult(edit: "strip-tags", reason: other)) {
            try strip("EXT-X-SESSION-DATA", "#EXTM3U\n#EXT-X-SESSION-DATA:DATA-ID=\"d\",VALUE=\"v\"\n")
        }
        #expect(
            throws: PlaylistEditError.unreadableResult(edit: "strip-tags", reason: "empty, not an HLS playlist")
        ) {
            try strip("EXT-X-GAP", "#EXT-X-GAP\n")
        }
        #expect(
            throws: PlaylistEditError.unreadableResult(edit: "no-gaps", reason: "empty, not an HLS playlist")
        ) {
            try strip("EXT-X-GAP", "#EXT-X-GAP\n", edit: "no-gaps")
        }
        #expect(try strip("EXT-X-GAP", "#EXTM3U\n#EXT-X-GAP\n") == "#EXTM3U\n")
    }

    // MARK: Media playlists

    @Test(arguments: [
        ("max-height", "720", false), ("no-i-frames", "", false), ("start", "1", true), ("append", "a", true),
        ("absolute", "", false), ("canonical", "", false), ("carry-query", "token", false),
        ("strip-tags", "EXT-X-DATERANGE", true), ("strip-tags", "EXT-X-GAP", true),
        ("strip-tags", "EXT-X-PLAYLIST-TYPE", true), ("strip-tags", "EXT-X-SESSION-DATA,EXT-X-GAP", true),
        ("strip-tags", "EXT-X-VERSION", false), ("strip-tags", "EXT-X-SESSION-DATA", false),
        ("strip-tags", "EXT-X-MINE", false), ("set-tag", "EXT-X-START=TIME-OFFSET=1", false),
        ("set-tag", "EXT-X-ENDLIST", true), ("set-tag", "EXT-X-PLAYLIST-TYPE=VOD", true),
        ("set-tag", "EXT-X-CONTENT-STEERING=SERVER-URI=\"/s\"", false), ("set-tag", "EXT-X-MINE=EXT-X-GAP", false),
        ("key", "00112233445566778899aabbccddeeff", true),
    ])
    func editsOfMediaPlaylistsAreKnown(name: String, value: String, isConcerned: Bool) throws {
        #expect(try PlaylistEdit(name: name, value: value).concernsMediaPlaylists == isConcerned)
    }

    @Test func editOfAnApplicationConcernsTheMediaPlaylistsThatItChanges() throws {
        let both = CustomEdit(
            "concerned-both",
            title: "Both",
            summary: "Change nothing.",
            multivariant: { playlist, _ in playlist },
            media: { playlist, _ in playlist }
        )
        let filter = CustomEdit(
            filter: "concerned-filter",
            title: "Filter",
            summary: "Change nothing.",
            multivariant: { playlist, _ in playlist }
        )
        try PlaylistEdit.register(both)
        try PlaylistEdit.register(filter)
        let edit = try PlaylistEdit(name: "concerned-both", value: "1")
        #expect(edit.concernsMediaPlaylists && edit.value.isEmpty)
        #expect(try !PlaylistEdit(name: "concerned-filter", value: "").concernsMediaPlaylists)
    }

    @Test(arguments: [
        ("a0-z9", true), ("z", true), ("`a", false), ("{a", false), ("a`", false), ("a{", false), ("a/", false),
        ("a:", false), ("a_", false), ("0a", false),
    ])
    func namesOfEditsHaveLowercaseLettersDigitsAndHyphens(name: String, isValid: Bool) throws {
        let edit = CustomEdit(
            filter: name,
            title: "Filter",
            summary: "Change nothing.",
            multivariant: { playlist, _ in playlist }
        )
        let error = PlaylistEditError.invalidName(name)
        if isValid {
            try PlaylistEdit.register(edit)
            #expect(try PlaylistEdit(name: name, value: "").definition == edit.definition)
        } else {
            #expect(throws: PlaylistEditError.unknownEdit(name)) { try PlaylistEdit(name: name, value: "") }
        }
        // A name is used once.
        #expect(throws: error) { try PlaylistEdit.register(edit) }
    }

    @Test(arguments: PlaylistEdit.definitions)
    func onlyChannelsDependOnTheDateAndOnlyBreaksOnEarlierVersions(definition: EditDefinition) throws {
        let plan = EditPlan([try PlaylistEdit(name: definition.name, value: definition.examples.first ?? "")])
        #expect(plan.dependsOnDate == (definition.name == "live"))
        #expect(plan.continuesTimelines == (definition.name == "replace-breaks"))
        #expect(plan.changesMedia == (definition.target != .multivariant))
    }

    /// Servers find the result of an edit by its hash.
    @Test func hashesDifferByNameAndValue() throws {
        let edits: [PlaylistEdit] = [.append("a"), .append("b"), .prepend("a"), .prepend("b")]
        #expect(Set(edits.map(\.hashValue)).count == 4)
        let minute = try PlaylistEdit(name: "start", value: "1:00")
        #expect(minute.hashValue == PlaylistEdit.start(MediaTime(seconds: 60)).hashValue)
    }

    // MARK: Parameters of URLs

    /// Returns the URIs of a playlist after all parameters of its URL are passed on.
    private func carried(_ lines: String, at address: String = "https://h/l.m3u8?token=1") throws -> [String] {
        let playlist = try MediaPlaylist(
            parsing: Array("#EXTM3U\n\(lines)\n".utf8),
            context: PlaylistContext(address: ResourceAddress(address))
        )
        let edited = try EditPlan([.carryQuery(["*"])]).applied(to: playlist)
        return Playlist.media(edited).addresses.map(\.uri)
    }

    @Test(arguments: [
        ("a.ts", "a.ts?token=1"), ("a.ts#x#y", "a.ts?token=1#x#y"), ("a.ts?#x", "a.ts?token=1#x"),
        ("a.ts?", "a.ts?token=1"), ("a.ts?b=1#x", "a.ts?b=1&token=1#x"), ("a.ts?token", "a.ts?token"),
        ("a.ts?b=1&token=2", "a.ts?b=1&token=2"), ("a.ts?tokens=2", "a.ts?tokens=2&token=1"),
        ("a.ts#?token=2", "a.ts?token=1#?token=2"), ("https://H:443/a.ts", "https://H:443/a.ts?token=1"),
        ("http://h/a.ts", "http://h/a.ts"), ("https://h:80/a.ts", "https://h:80/a.ts"),
        ("https://i/a.ts", "https://i/a.ts"), ("data:,a", "data:,a"),
    ])
    func parametersAreAddedToURLsOfTheSameOrigin(uri: String, expected: String) throws {
        #expect(try carried("#EXTINF:4,\n\(uri)") == [expected])
    }

    @Test(arguments: [
        ("https://h/l.m3u8?a&b=2&a=3", "a.ts?a&b=2&a=3"), ("https://h/l.m3u8?", "a.ts"), ("https://h/l.m3u8?&", "a.ts"),
        ("file:///l.m3u8?token=1", "a.ts"), ("ftp://h/l.m3u8?token=1", "a.ts"),
    ])
    func parametersOfHTTPURLsArePassedOn(address: String, expected: String) throws {
        #expect(try carried("#EXTINF:4,\na.ts", at: address) == [expected])
    }

    @Test func parametersAreNotPassedOnToInterstitials() throws {
        let range =
            "#EXT-X-DATERANGE:ID=\"i\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"2026-01-01T00:00:00Z\","
            + "X-ASSET-URI=\"ad.m3u8\""
        #expect(try carried("\(range)\n#EXTINF:4,\na.ts") == ["ad.m3u8", "a.ts?token=1"])
    }

    /// The URL of a part names its segment and its initialization section.
    @Test(arguments: [
        ("a.mp4", "https%3A%2F%2Fh%2Fi.mp4", "https://h/a.mp4?token=1", "https://h/i.mp4?token=1"),
        ("a.mp4", "https%3A%2F%2Fo%2Fi.mp4", "https://h/a.mp4?token=1", "https://o/i.mp4"),
        ("https://o/a.mp4", "https%3A%2F%2Fh%2Fi.mp4", "https://o/a.mp4", "https://h/i.mp4?token=1"),
    ])
    func parametersArePassedOnToBothURLsOfAPart(uri: String, map: String, segment: String, section: String) throws {
        let fragment = "part=0&count=2&target=0.5&duration=4&date=1577836800&map=\(map)"
        let written = try #require(try carried("#EXTINF:4,\n\(uri)#\(fragment)").first)
        let part = try #require(SegmentPart(of: ResourceAddress(written)))
        #expect(part.segment.text == segment && part.initialization?.text == section)
        #expect(part.index == 0 && part.count == 2 && part.duration == MediaTime(seconds: 4))
    }
}
