import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { Menu } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Dialog, Modal, ModalOverlay } from 'react-aria-components'
import mark from '../mark.svg'
import { IconButton } from '../parts/button.tsx'
import { healthQuery } from './health.ts'
import { Side } from './side.tsx'

/** What stands around every page: navigation, and a word when the connection is lost. */
export function Shell() {
  const [isDrawerOpen, setDrawerOpen] = useState(false)
  const { pathname } = useLocation()
  useEffect(() => setDrawerOpen(false), [pathname])
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Connection />
      <div className="shell">
        <div className="mobile-head">
          <Link to="/" className="brand">
            <img src={mark} alt="" /> Millrace
          </Link>
          <IconButton name="Navigation" onPress={() => setDrawerOpen(true)}>
            <Menu aria-hidden />
          </IconButton>
        </div>
        <Side />
        <main id="main" className="main" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
      <ModalOverlay
        className="overlay sheet drawer"
        isOpen={isDrawerOpen}
        onOpenChange={setDrawerOpen}
        isDismissable
      >
        <Modal className="modal">
          <Dialog aria-label="Navigation">
            <Side />
          </Dialog>
        </Modal>
      </ModalOverlay>
    </>
  )
}

function Connection() {
  const { data: health = 'ready' } = useQuery(healthQuery)
  if (health === 'ready') return null
  return (
    <div className="lost" role="alert">
      {health === 'lost'
        ? 'The service does not answer. This page goes on by itself as soon as it does.'
        : 'The service is up, but one of its engines does not answer yet.'}
    </div>
  )
}
