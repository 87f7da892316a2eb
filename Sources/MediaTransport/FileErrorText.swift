import Foundation

/// The reasons of failed operations on files, in the words of the system.
package enum FileErrorText {
    /// Returns the reason of an error of Foundation or of a system call, such as `No space left on device`.
    ///
    /// The descriptions of Foundation are not used, because they contain domains and numbers of errors.
    package static func reason(of error: any Error) -> String {
        var inner = error as NSError
        while let cause = inner.userInfo[NSUnderlyingErrorKey] as? NSError { inner = cause }
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
}
