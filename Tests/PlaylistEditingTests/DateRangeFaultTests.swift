import HLSPlaylist
import PlaylistEditing
import Testing

/// Tests the identifiers that date ranges have in a playlist to which their playlist is stitched.
@Suite struct DateRangeFaultTests {
    private static func range(_ id: String, _ attributes: String = first) -> String {
        "#EXT-X-DATERANGE:ID=\"\(id)\",\(attributes)\n"
    }

    private static let first = "START-DATE=\"2026-01-01T00:00:00Z\""
    private static let second = "START-DATE=\"2026-01-02T00:00:00Z\""

    private func media(_ ranges: String) throws -> MediaPlaylist {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(ranges)#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        return try MediaPlaylist(parsing: Array(text.utf8))
    }

    /// Returns the identifiers of the date ranges in a playlist that is followed by another one.
    private func identifiers(_ host: String, _ guest: String) throws -> [String] {
        try media(host).appending(media(guest)).dateRanges.map(\.id)
    }

    /// Identifiers that other date ranges have are numbered.
    @Test func newIdentifierIsNotThatOfAnotherDateRange() throws {
        let host = Self.range("1", Self.second)
        let name = try #require(try identifiers(host, Self.range("1")).last)
        #expect(name.hasPrefix("1-"))
        let own = Self.range(name, Self.second)
        #expect(try identifiers(host, Self.range("1") + own) == ["1", "\(name)-2", name])
        let numbered = own + Self.range("\(name)-2", Self.second)
        #expect(try identifiers(host, Self.range("1") + numbered) == ["1", "\(name)-3", name, "\(name)-2"])
        #expect(try identifiers(host + own, Self.range("1")) == ["1", name, "\(name)-2"])
        #expect(try identifiers(host + numbered, Self.range("1")) == ["1", name, "\(name)-2", "\(name)-3"])
    }

    @Test func equalDateRangesHaveOneIdentifier() throws {
        let host = Self.range("1", Self.second)
        let name = try #require(try identifiers(host, Self.range("1")).last)
        #expect(try identifiers(host + Self.range(name), Self.range("1")) == ["1", name])
        #expect(try identifiers(Self.range("1"), Self.range("1")) == ["1"])
        // An attribute of only one of them is no difference.
        #expect(try identifiers(Self.range("1", "CLASS=\"c\""), Self.range("1")) == ["1"])
    }

    /// A preload date range names another one, which can get a new identifier.
    @Test func preloadDateRangesOfTwoSourcesAreDistinct() throws {
        let (one, other) = (Self.first + ",X-TARGET-ID=\"a\"", Self.first + ",X-TARGET-ID=\"b\"")
        let own = try identifiers(Self.range("1", one), Self.range("1", other))
        #expect(own.count == 2 && own.first == "1")
        // Both playlists have the same preload date range, for another date range with the identifier a.
        let host = Self.range("1", one) + Self.range("a", Self.second)
        let edited = try media(host).appending(media(Self.range("1", one) + Self.range("a")))
        #expect(edited.dateRanges.count == 4)
        #expect(edited.dateRanges.compactMap { $0["X-TARGET-ID"] } == ["a", edited.dateRanges[3].id])
    }

    @Test func dateRangesWithoutConflictKeepTheirIdentifiers() throws {
        #expect(try identifiers("", Self.range("1")) == ["1"])
        #expect(try identifiers(Self.range("1"), Self.range("2", Self.second)) == ["1", "2"])
    }
}
