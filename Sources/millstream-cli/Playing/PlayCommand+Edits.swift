import ArgumentParser
import MillstreamServer
import PlaylistEditing
import ResourceAddressing

/// The edits of the options `--edit`.
extension PlayCommand {
    /// Returns the edits of the options.
    ///
    /// - Parameter locatesSources: A Boolean value that indicates whether inserted files are relative to the working
    ///   directory, and addresses have no passwords.
    /// - Returns: The edits, in their order.
    /// - Throws: `ValidationError`.
    func edits(locatesSources: Bool = true) throws -> [PlaylistEdit] {
        let edits = try edit.flatMap { $0.split(separator: "&") }.map { text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(String(parts[0])), PlaylistEdit.names.contains(name),
                let value = PercentEncoding.decode(parts.count > 1 ? String(parts[1]) : "")
            else {
                let known = PlaylistEdit.names.sorted().joined(separator: ", ")
                throw ValidationError("--edit does not support \(parts[0]); the edits are \(known)")
            }
            do {
                let edit = try PlaylistEdit(name: name, value: value)
                return locatesSources ? try Self.locating(edit) : edit
            } catch let error as PlaylistEditError {
                throw ValidationError("--edit: \(error)")
            }
        }
        do {
            try EditLimits().verify(EditPlan(edits))
        } catch {
            throw ValidationError("--edit: \(error)")
        }
        return edits
    }

    /// Resolves the source of an inserted playlist relative to the working directory.
    private static func locating(_ edit: PlaylistEdit) throws -> PlaylistEdit {
        guard let source = edit.source, GapPlaylist.playlist(at: source) == nil else { return edit }
        return edit.replacingSource(try PlaylistSource.address(source).text)
    }
}
