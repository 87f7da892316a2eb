package import HLSPlaylist
import MediaTiming

extension PreparedEdit {
    /// Returns the date ranges that the playlist of a simulated channel had at a time within the skip boundary, and does not have
    /// any longer (RFC 8216bis §6.2.5.1).
    ///
    /// A date range remains in the playlist for the window of the channel, which is longer than the skip boundary. So each date
    /// range that was removed since then is in the playlist of that time.
    ///
    /// - Parameters:
    ///   - playlist: The result of ``apply(check:)``.
    ///   - check: A closure that is called between steps, and throws an error to stop.
    /// - Returns: The IDs of the date ranges; `nil` if they are not known, because earlier versions of the playlist are not.
    /// - Throws: The error of `check`.
    package func recentlyRemovedDateRanges(
        of playlist: MediaPlaylist,
        check: () throws -> Void
    ) throws -> [String]? {
        guard plan.channel != nil, let date, let control = playlist.serverControl, control.canSkipDateRanges,
            let boundary = control.canSkipUntil
        else { return nil }
        var earlier = self
        earlier.date = date.advanced(by: .zero - boundary)
        earlier.parts = PartDelivery()
        do {
            guard case .media(let previous) = try earlier.apply(check: check) else { return nil }
            let remaining = Set(playlist.dateRanges.map(\.id))
            return previous.dateRanges.map(\.id).filter { !remaining.contains($0) }
        } catch let error as PlaylistEditError {
            // Nothing was removed from a channel that had not started.
            if case .notStarted = error { return [] }
            return nil
        }
    }
}
