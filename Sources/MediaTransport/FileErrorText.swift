import Foundation

/// The reasons of failed operations on files, in the words of the system.
package enum FileErrorText {
    /// Returns the reason of an error of Foundation or of a system call, such as `No space left on device`.
    ///
    /// The descriptions of Foundation are not used, because they contain domains and numbers of errors.
    package static func reason(of error: any Error) -> String {
        let inner = innermost(error)
        if inner.domain == NSPOSIXErrorDomain { return String(cString: strerror(Int32(clamping: inner.code))) }
        guard inner.domain == NSCocoaErrorDomain else { return "the reason is unknown" }
        return switch CocoaError.Code(rawValue: inner.code) {
        case .fileNoSuchFile, .fileReadNoSuchFile: "No such file or directory"
        case .fileReadNoPermission, .fileWriteNoPermission: "Permission denied"
        case .fileWriteFileExists: "File exists"
        case .fileWriteOutOfSpace: "No space left on device"
        case .fileWriteVolumeReadOnly: "Read-only file system"
        case .fileReadTooLarge: "File too large"
        case .fileReadInvalidFileName, .fileWriteInvalidFileName: "Invalid file name"
        default: "the reason is unknown"
        }
    }

    /// Returns a Boolean value that indicates whether an error of Foundation or of a system call is that of a full disk, or of
    /// a user whose quota is used up.
    package static func isFull(_ error: any Error) -> Bool {
        let inner = innermost(error)
        if inner.domain == NSPOSIXErrorDomain { return isFull(errorNumber: Int32(clamping: inner.code)) }
        return inner.domain == NSCocoaErrorDomain && CocoaError.Code(rawValue: inner.code) == .fileWriteOutOfSpace
    }

    /// Returns a Boolean value that indicates whether an error number is that of a full disk, or of a user whose quota is used
    /// up.
    package static func isFull(errorNumber number: Int32) -> Bool { number == ENOSPC || number == EDQUOT }

    /// Returns the error of the system that an error of Foundation was created for; the error itself if there is none.
    private static func innermost(_ error: any Error) -> NSError {
        var inner = error as NSError
        while let cause = inner.userInfo[NSUnderlyingErrorKey] as? NSError { inner = cause }
        return inner
    }
}
