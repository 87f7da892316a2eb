import Foundation
import GRDB

extension AssetLibrary {
    /// Returns a playlist of a recording in the form that is up to date; `nil` if the stored file is.
    ///
    /// The files of a recording cannot tell two things. An interrupted recording has ended, unless a process continues it: its media
    /// playlists are of the type `VOD` and have an end marker as long as no process holds the lock of the asset. And the bit rate
    /// of a recorded media playlist, which no multivariant playlist declares, is that of the media that is stored meanwhile.
    ///
    /// - Parameters:
    ///   - path: The path of the playlist, relative to the package.
    ///   - id: The identifier of the asset.
    /// - Returns: The bytes of the playlist.
    /// - Throws: ``StorageError``, or the error of the system if the file cannot be read.
    package func currentPlaylist(_ path: String, of id: String) throws -> [UInt8]? {
        guard path.hasSuffix(".m3u8"), try outline(of: id).state == .partial, try isRecording(id),
            let url = file(path, of: id)
        else { return nil }
        if path == Self.multivariantName { return try measuredPlaylist(of: id) }
        guard !PackageLock.isHeld(packageDirectory(id)) else { return nil }
        let text = String(decoding: try Data(contentsOf: url), as: UTF8.self)
        // The recording may have ended after the catalog was read.
        guard !text.hasSuffix(RecordingHeader.endMarker) else { return nil }
        var playlist = RecordingHeader(text)
        playlist.hasEnded = true
        return Array((playlist.text + (text.hasSuffix("\n") ? "" : "\n") + RecordingHeader.endMarker).utf8)
    }

    /// Returns the multivariant playlist of a recorded media playlist, with the bit rate of the stored segments; `nil` if the source
    /// is a multivariant playlist, or if no segment is stored.
    func measuredPlaylist(of id: String) throws -> [UInt8]? {
        try catalog.read { database in
            guard try !Self.record(id, database).hasSourcePlaylist(database) else { return nil }
            let renditions = try RenditionEntry.fetchAll(of: id, database)
            // The duration of a file that segments share is zero.
            let sums = try Row.fetchOne(
                database,
                sql: """
                    SELECT SUM(bytes) AS bytes, SUM(CAST(duration AS REAL)) AS seconds FROM resource
                    WHERE assetID = ? AND bytes IS NOT NULL
                    """,
                arguments: [id]
            )
            guard let sums else { return nil }
            // The sums of no rows are NULL.
            let size: Int64? = sums["bytes"]
            let seconds: Double? = sums["seconds"]
            guard let size, let seconds, seconds > 0 else { return nil }
            return Self.generatedPlaylist(of: renditions, size: size, seconds: seconds)
        }
    }
}
