import GRDB

/// The catalog record of a segment of a rendition that is recorded from a live playlist.
///
/// The lines of all segments, in the order of their positions and after the header of the rendition, are its playlist,
/// so that a new segment costs one row however long the recording is.
struct RecordedSegment: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "recordedSegment"

    var renditionID: Int64
    /// The zero-based index of the segment in the recording.
    var position: Int
    /// The media sequence number at the origin.
    var sequence: Int64
    /// The tags and the URI of the segment, with absolute URLs.
    var lines: String
    /// The duration in seconds, as a decimal number.
    var duration: String
    /// The date of the first sample (`EXT-X-PROGRAM-DATE-TIME`), if the playlist has dates.
    var date: String?

    static func registerMigration(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("recordings") { database in
            try database.alter(table: "rendition") { table in
                // Set if the playlist does not have all segments of the source.
                table.add(column: "isPart", .boolean)
            }
            try database.create(table: databaseTableName) { table in
                table.column("renditionID", .integer).notNull().references("rendition", onDelete: .cascade)
                table.column("position", .integer).notNull()
                table.column("sequence", .integer).notNull()
                table.column("lines", .text).notNull()
                table.column("duration", .text).notNull()
                table.column("date", .text)
                table.primaryKey(["renditionID", "position"])
            }
        }
    }
}
