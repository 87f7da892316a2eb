import Foundation

/// The error numbers of the system for a disk that has no space left.
package enum DiskErrorNumber {
    /// Returns a Boolean value that indicates whether an error number is that of a full disk, or of a user whose quota is used
    /// up.
    package static func isFull(_ number: Int32) -> Bool { number == ENOSPC || number == EDQUOT }
}
