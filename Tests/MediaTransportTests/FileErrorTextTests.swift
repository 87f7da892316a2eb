import Foundation
import MediaTransport
import Testing

@Suite struct FileErrorTextTests {
    /// Returns an error of Foundation that a failed system call caused.
    private static func caused(by number: Int32) -> NSError {
        let cause = NSError(domain: NSPOSIXErrorDomain, code: Int(number))
        return NSError(
            domain: NSCocoaErrorDomain,
            code: CocoaError.Code.fileWriteUnknown.rawValue,
            userInfo: [NSUnderlyingErrorKey: cause]
        )
    }

    @Test(
        arguments: [
            (POSIXError(.ENOSPC), true), (POSIXError(.EDQUOT), true), (POSIXError(.EIO), false),
            (CocoaError(.fileWriteOutOfSpace), true), (CocoaError(.fileWriteNoPermission), false),
            (caused(by: ENOSPC), true), (caused(by: EACCES), false),
            (CancellationError(), false),
        ] as [(any Error, Bool)]
    )
    func errorsOfAFullDiskAreRecognized(error: any Error, isFull: Bool) {
        #expect(FileErrorText.isFull(error) == isFull, "\(error)")
    }

    @Test(arguments: [
        (CocoaError.Code.fileNoSuchFile, "No such file or directory"),
        (.fileReadNoSuchFile, "No such file or directory"), (.fileReadNoPermission, "Permission denied"),
        (.fileWriteNoPermission, "Permission denied"), (.fileWriteFileExists, "File exists"),
        (.fileWriteVolumeReadOnly, "Read-only file system"), (.fileReadTooLarge, "File too large"),
        (.fileReadInvalidFileName, "Invalid file name"), (.fileWriteInvalidFileName, "Invalid file name"),
        (.fileReadCorruptFile, "the reason is unknown"),
    ])
    func errorsOfFoundationHaveReasons(code: CocoaError.Code, reason: String) {
        #expect(FileErrorText.reason(of: CocoaError(code)) == reason)
    }

    @Test func reasonIsThatOfTheCause() {
        #expect(FileErrorText.reason(of: Self.caused(by: EACCES)) == String(cString: strerror(EACCES)))
        #expect(FileErrorText.reason(of: NSError(domain: "other", code: 13)) == "the reason is unknown")
        let deep = NSError(
            domain: NSCocoaErrorDomain,
            code: 512,
            userInfo: [NSUnderlyingErrorKey: Self.caused(by: ENOSPC)]
        )
        #expect(FileErrorText.reason(of: deep) == String(cString: strerror(ENOSPC)) && FileErrorText.isFull(deep))
    }

    @Test func reasonIsThatOfTheSystem() {
        #expect(FileErrorText.reason(of: POSIXError(.ENOSPC)) == String(cString: strerror(ENOSPC)))
        #expect(FileErrorText.reason(of: CocoaError(.fileWriteOutOfSpace)) == "No space left on device")
        #expect(FileErrorText.reason(of: CancellationError()) == "the reason is unknown")
    }
}
