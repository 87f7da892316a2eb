import GRDB
import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// The date ranges of a recording, each of which it has once, and the tags of segments that the standard does not define.
struct RecordedMetadata {
    /// A change of the tag of a date range that is recorded already.
    struct Change {
        let former: String
        let text: String
        /// The index of the recorded segment that has the tag.
        let position: Int

        func apply(to renditionID: Int64, _ database: Database) throws {
            try database.execute(
                sql: "UPDATE recordedSegment SET lines = replace(lines, ?, ?) WHERE renditionID = ? AND position = ?",
                arguments: [former + "\n", text + "\n", renditionID, position]
            )
        }
    }

    /// The tag of a date range.
    struct Line {
        let text: String
        /// A Boolean value that indicates whether the date range is an interstitial, which the package does not contain.
        let isInterstitial: Bool
    }

    private struct DateRangeEntry {
        var text: String
        var position: Int
    }

    /// The date ranges by their identifiers.
    private var dateRanges: [String: DateRangeEntry] = [:]

    private static let tag = "#EXT-X-DATERANGE:"
    /// The maximum size of the tag of a date range, and of the unknown tags of a segment.
    private static let maximumSize = 16 << 10
    /// The maximum number of date ranges of a recording.
    private static let maximumCount = 100_000

    init() {}

    /// Creates the metadata from the recorded date ranges.
    init(of renditionID: Int64, _ database: Database) throws {
        let rows = try RecordedSegment.filter(Column("renditionID") == renditionID)
            .filter(Column("lines").like("%\(Self.tag)%")).fetchCursor(database)
        while let row = try rows.next() {
            for line in row.lines.split(separator: "\n") where line.hasPrefix(Self.tag) {
                let bytes = Array(line.utf8)
                guard let id = AttributeList(bytes, in: Self.tag.utf8.count..<bytes.count)["ID"] else { continue }
                dateRanges[id] = DateRangeEntry(text: String(line), position: row.position)
            }
        }
    }

    /// Returns the date ranges of a version of the playlist that are new, or have other attributes than recorded.
    ///
    /// - Parameters:
    ///   - playlist: The playlist at the origin.
    ///   - segment: The first segment that is added; date ranges that ended before are not recorded.
    ///   - position: The index of the segment in the recording.
    /// - Returns: The tags to add to the local playlist, and the changes of recorded tags.
    mutating func newDateRanges(
        of playlist: MediaPlaylist,
        from segment: MediaSegment,
        at position: Int
    ) -> (lines: [Line], changes: [Change]) {
        var lines: [Line] = []
        var changes: [Change] = []
        for range in playlist.dateRanges {
            let text = Self.text(of: range, in: playlist)
            guard text.utf8.count <= Self.maximumSize else { continue }
            let isInterstitial = range["X-ASSET-URI"] != nil || range["X-ASSET-LIST"] != nil
            if dateRanges[range.id] != nil {
                if let change = change(of: range.id, to: text) { changes.append(change) }
                continue
            }
            let end = range.endDate ?? range.duration.flatMap { range.startDate?.advanced(by: $0) }
            if let end, let start = segment.programDateTime, end.sinceEpoch < start.sinceEpoch { continue }
            guard dateRanges.count < Self.maximumCount else { break }
            dateRanges[range.id] = DateRangeEntry(text: text, position: position)
            lines.append(Line(text: text, isInterstitial: isInterstitial))
        }
        return (lines, changes)
    }

    /// Returns the changes of recorded date ranges in a version of the playlist that has no new segment.
    mutating func changedDateRanges(of playlist: MediaPlaylist) -> [Change] {
        playlist.dateRanges.compactMap { change(of: $0.id, to: Self.text(of: $0, in: playlist)) }
    }

    /// Returns the change of a recorded date range; `nil` if there is none.
    private mutating func change(of id: String, to text: String) -> Change? {
        guard let known = dateRanges[id] else { return nil }
        let merged = Self.merging(known.text, with: text)
        guard merged != known.text, merged.utf8.count <= Self.maximumSize else { return nil }
        dateRanges[id]?.text = merged
        return Change(former: known.text, text: merged, position: known.position)
    }

    /// Returns a tag with the attributes of two: a playlist can lack the first of several tags of a date range, which has
    /// attributes that the others do not repeat.
    private static func merging(_ former: String, with text: String) -> String {
        func attributes(_ text: String) -> [AttributeList.Attribute] {
            let bytes = Array(text.utf8)
            return AttributeList(bytes, in: tag.utf8.count..<bytes.count).attributes
        }
        let new = attributes(text)
        let known = attributes(former)
        // Another break may have the same identifier later.
        let dates = [known, new].compactMap { list in list.first { $0.name == "START-DATE" }?.value }
        guard Set(dates).count <= 1 else { return text }
        // The order is kept, so that nothing changes if no value does.
        let changed = known.map { old in new.first { $0.name == old.name } ?? old }
        let added = new.filter { attribute in !known.contains { $0.name == attribute.name } }
        return tag + (changed + added).map { Self.text(of: $0, $0.value) }.joined(separator: ",")
    }

    private static func text(of attribute: AttributeList.Attribute, _ value: String) -> String {
        attribute.isQuoted ? "\(attribute.name)=\"\(value)\"" : "\(attribute.name)=\(value)"
    }

    private static func text(of range: DateRange, in playlist: MediaPlaylist) -> String {
        let attributes = range.attributes.map { attribute in
            var value = range[attribute.name] ?? attribute.value
            if ["X-ASSET-URI", "X-ASSET-LIST"].contains(attribute.name) {
                value = playlist.context.address?.resolving(value).text ?? value
            }
            return text(of: attribute, value)
        }
        return tag + attributes.joined(separator: ",")
    }

    /// Returns the tags of a segment that the standard does not define, such as the marks of breaks.
    static func unknownTags(ofSegment position: Int, in playlist: MediaPlaylist) -> [String] {
        let lines = playlist.lines(ofSegment: position)
        // Tags before the last one of the header concern the playlist.
        let first = lines.lastIndex { line in line.tag.map { [.any, .mediaPlaylist].contains($0.scope) } ?? false }
        let tags = lines[(first.map { $0 + 1 } ?? 0)...].filter { $0.tag == nil && !$0.isURI }
            .map { String(decoding: playlist.bytes[$0.text], as: UTF8.self) }.filter { $0.hasPrefix("#EXT") }
        return tags.reduce(0) { $0 +| $1.utf8.count } <= maximumSize ? tags : []
    }
}
