import ArgumentParser
import MillstreamServer
import PlaylistEditing
import ResourceAddressing

/// The values of options `--edit`, which have the form of the query of a playback URL.
enum EditParameters {
    /// Returns the edits of the options.
    ///
    /// - Parameters:
    ///   - texts: The values, such as `bandwidth=900k...4M&duration=30`.
    ///   - locatesSources: A Boolean value that indicates whether inserted files are relative to the working directory, and
    ///     addresses have no passwords.
    /// - Returns: The edits, in their order.
    /// - Throws: `ValidationError`.
    static func edits(_ texts: [String], locatesSources: Bool = true) throws -> [PlaylistEdit] {
        let edits = try texts.flatMap { $0.split(separator: "&") }.compactMap { text -> PlaylistEdit? in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(String(parts[0])), PlaylistEdit.names.contains(name),
                let value = PercentEncoding.decode(parts.count > 1 ? String(parts[1]) : "")
            else {
                let known = PlaylistEdit.names.sorted().joined(separator: ", ")
                throw ValidationError("--edit does not support \(parts[0]); the edits are \(known)")
            }
            let named: PlaylistEdit?
            do {
                named = try PlaylistEdit.edit(named: name, value)
            } catch {
                throw ValidationError("--edit: \(error)")
            }
            guard let named else { return nil }
            return locatesSources ? try locating(named) : named
        }
        do {
            try EditLimits().verify(EditPlan(edits))
        } catch {
            throw ValidationError("--edit: \(error)")
        }
        return edits
    }

    /// Returns an edit whose value is that of an option.
    static func edit(_ name: String, _ value: String, option: String) throws -> PlaylistEdit {
        do {
            return try PlaylistEdit(name: name, value: value)
        } catch {
            throw ValidationError("\(option): \(error)")
        }
    }

    /// Resolves the source of an inserted playlist relative to the working directory.
    private static func locating(_ edit: PlaylistEdit) throws -> PlaylistEdit {
        guard let source = edit.source, GapPlaylist.playlist(at: source) == nil else { return edit }
        return edit.replacingSource(try PlaylistSource.address(source).text)
    }
}
