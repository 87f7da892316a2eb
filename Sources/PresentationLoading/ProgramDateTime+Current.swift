import Foundation
package import HLSPlaylist
import MediaTiming

extension ProgramDateTime {
    /// The current date, with a resolution of one millisecond.
    package static var current: ProgramDateTime {
        let milliseconds = Int64(saturating: (Date().timeIntervalSince1970 * 1_000).rounded())
        return ProgramDateTime(sinceEpoch: MediaTime(value: milliseconds, timescale: 1_000))
    }
}
